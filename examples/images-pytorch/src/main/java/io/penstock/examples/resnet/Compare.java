// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.resnet;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.penstock.device.Device;
import io.penstock.loader.DataLoader;
import io.penstock.pytorch.TorchBatch;
import io.penstock.pytorch.TorchBatches;
import io.penstock.telemetry.LoaderReport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.Locale;
import org.bytedeco.javacpp.PointerScope;

/** Measures what {@code train.py} measures, with the same net. Prints a line of JSON. */
final class Compare {

    private static final double RATE = 0.01;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final Flags flags;

    private Compare(Flags flags) {
        this.flags = flags;
    }

    public static void main(String[] args) throws IOException {
        long began = System.nanoTime();
        new Compare(Flags.of(args, "--pictures", "work/pictures", "--draw", "1000", "--divide", "1", "--blocks", "1",
                "--width", "16", "--side", "64", "--batch", "64", "--steps", "60", "--warmup-steps", "40",
                "--threads", "1", "--workers", "1", "--input-batches", "0")).run(began);
    }

    private void run(long began) throws IOException {
        ResNet.useThreads(flags.whole("--threads"));
        Train.draw(flags);
        try (Input input = Input.open(flags.path("--pictures"), flags.whole("--side"), flags.whole("--batch"),
                flags.whole("--workers")); DataLoader loader = input.training(42, null, Device.host())) {
            TorchBatches batches = TorchBatches.of(loader);
            int warmup = flags.whole("--warmup-steps");
            if (flags.whole("--input-batches") > 0) {
                take(batches, warmup);
                long before = process.getProcessCpuTime();
                long rows = take(batches, flags.whole("--input-batches"));
                System.out.printf(Locale.ROOT, "{\"input_cpu_ms_per_image\": %.3f}%n",
                        (process.getProcessCpuTime() - before) / 1e6 / rows);
                return;
            }
            ResNet net = new ResNet(flags.whole("--blocks"), flags.whole("--width"), Drawings.KINDS, "cpu");
            try (Optimizing optimizing = new Optimizing(net)) {
                step(optimizing, batches);
                double first = (System.nanoTime() - began) / 1e9;
                for (int i = 1; i < warmup; i++) {
                    step(optimizing, batches);
                }
                LoaderReport report = loader.report();
                long cpu = process.getProcessCpuTime();
                long loaderCpu = loaderNanos();
                long before = System.nanoTime();
                long rows = 0;
                for (int i = 0; i < flags.whole("--steps"); i++) {
                    rows += step(optimizing, batches);
                }
                double nanos = System.nanoTime() - before;
                System.out.printf(Locale.ROOT, "{\"images_per_s\": %.1f, \"cpu_ms_per_image\": %.3f,"
                        + " \"input_cpu_ms_per_image\": %.3f, \"wait_share\": %.4f, \"first_step_s\": %.2f}%n",
                        rows * 1e9 / nanos, (process.getProcessCpuTime() - cpu) / 1e6 / rows,
                        (loaderNanos() - loaderCpu) / 1e6 / rows,
                        loader.report().since(report).consumerWaitNanos() / nanos, first);
            }
        }
    }

    private static long step(Optimizing optimizing, TorchBatches batches) {
        try (PointerScope _ = new PointerScope(); TorchBatch batch = batches.next()) {
            optimizing.step(batch.get("image"), batch.indices("label"), RATE);
            return batch.batch().count();
        }
    }

    private static long take(TorchBatches batches, int count) {
        long rows = 0;
        for (int i = 0; i < count; i++) {
            try (TorchBatch batch = batches.next()) {
                rows += batch.batch().count();
            }
        }
        return rows;
    }

    /** CPU time of the threads that fill batches. */
    private long loaderNanos() {
        long nanos = 0;
        for (long id : threads.getAllThreadIds()) {
            ThreadInfo thread = threads.getThreadInfo(id);
            if (thread != null && thread.getThreadName().startsWith("training-")) {
                nanos += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        return nanos;
    }
}
