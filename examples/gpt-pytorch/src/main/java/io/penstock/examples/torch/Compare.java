// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.penstock.device.Device;
import io.penstock.loader.DataLoader;
import io.penstock.pytorch.TorchBatch;
import io.penstock.pytorch.TorchBatches;
import io.penstock.sampling.Shard;
import io.penstock.telemetry.LoaderReport;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Measures what {@code train.py} measures, and by turns steps over one batch that is there already, and how evenly
 * small operations start beside the loader's threads. Prints a line of JSON. With {@code --batch-file} it only writes
 * the first batch there.
 */
final class Compare {

    private static final List<String> FIELDS = List.of("input_ids", "labels", "position_ids", "document_ids");
    private static final int BLOCK_STEPS = 5;
    private static final int LAUNCHES = 50_000;
    /** Batches that are there already. */
    private static final int THERE = 16;
    private static final int KINDS = 3;
    /** After so many the loader's code is compiled, as it is in a run of hours. */
    private static final int WARM_UP_BATCHES = 10_000;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final Flags flags;

    private Compare(Flags flags) {
        this.flags = flags;
    }

    public static void main(String[] args) throws IOException {
        long began = System.nanoTime();
        new Compare(Flags.of(args, "--store", "", "--size", "tiny", "--context", "128", "--batch", "8", "--steps",
                "50", "--warmup-steps", "5", "--threads", "1", "--batch-file", "", "--launches", "false",
                "--input-batches", "0", "--pairs", "0")).run(began);
    }

    private void run(long began) throws IOException {
        Model.useThreads(flags.whole("--threads"));
        int batchSize = flags.whole("--batch");
        try (Input input = Input.open(flags.path("--store"), flags.whole("--context"));
                DataLoader loader = input.training(batchSize, 42, 0, Shard.whole(), null, Device.host())) {
            TorchBatches batches = TorchBatches.of(loader);
            if (!flags.text("--batch-file").isEmpty()) {
                write(batches, flags.path("--batch-file"));
                return;
            }
            if (flags.isOn("--launches")) {
                launches(batches);
                return;
            }
            if (flags.whole("--input-batches") > 0) {
                input(batches, flags.whole("--input-batches"));
                return;
            }
            Model model = new Model(Size.named(flags.text("--size")), flags.whole("--context"), input.tokens(),
                    Model.cpu());
            try (Optimizing optimizing = new Optimizing(model, Ranks.of(Map.of(), "", false))) {
                Tensor[] synthetic = new Tensor[FIELDS.size()];
                try (TorchBatch batch = batches.next()) {
                    for (int i = 0; i < synthetic.length; i++) {
                        synthetic[i] = batch.get(FIELDS.get(i)).clone().retainReference();
                    }
                }
                step(model, optimizing, synthetic);
                double firstSeconds = (System.nanoTime() - began) / 1e9;
                for (int i = 1; i < flags.whole("--warmup-steps"); i++) {
                    step(model, optimizing, batches);
                }
                if (flags.whole("--pairs") > 0) {
                    input(batches, WARM_UP_BATCHES);
                    pairs(model, optimizing, batches, flags.whole("--pairs"));
                    return;
                }
                measure(model, optimizing, batches, synthetic, firstSeconds);
            }
        }
    }

    private void measure(Model model, Optimizing optimizing, TorchBatches batches, Tensor[] synthetic,
            double firstSeconds) {
        int steps = flags.whole("--steps");
        double[] real = new double[steps];
        double[] free = new double[steps];
        double seconds = 0;
        double waited = 0;
        double inputCpu = 0;
        double processCpu = 0;
        for (int done = 0; done < steps; done += BLOCK_STEPS) {
            LoaderReport report = batches.loader().report();
            long loaderBefore = loaderNanos();
            long cpuBefore = process.getProcessCpuTime();
            long before = System.nanoTime();
            for (int i = done; i < Math.min(steps, done + BLOCK_STEPS); i++) {
                long stepBefore = threads.getCurrentThreadCpuTime();
                inputCpu += step(model, optimizing, batches);
                real[i] = threads.getCurrentThreadCpuTime() - stepBefore;
            }
            seconds += (System.nanoTime() - before) / 1e9;
            processCpu += (process.getProcessCpuTime() - cpuBefore) / 1e9;
            waited += batches.loader().report().since(report).consumerWaitNanos() / 1e9;
            inputCpu += loaderNanos() - loaderBefore;
            for (int i = done; i < Math.min(steps, done + BLOCK_STEPS); i++) {
                long stepBefore = threads.getCurrentThreadCpuTime();
                step(model, optimizing, synthetic);
                free[i] = threads.getCurrentThreadCpuTime() - stepBefore;
            }
        }
        double tokens = (double) steps * flags.whole("--batch") * flags.whole("--context");
        System.out.printf(Locale.ROOT, "{\"tokens_per_s\": %.1f, \"wait_share\": %.6f,"
                + " \"input_cpu_ns_per_token\": %.1f, \"process_cpu_s\": %.2f, \"first_step_s\": %.2f,"
                + " \"step_cpu_ms\": %.2f, \"over_synthetic\": %.4f, \"peak_bytes\": %d}%n",
                tokens / seconds, waited / seconds, inputCpu / tokens, processCpu, firstSeconds,
                median(real) / 1e6, median(real) / median(free), peakBytes());
    }

    /**
     * Steps over the loader's batch, over one that is there already, and over another that is there, by turns and each
     * as often first as last, so that what disturbs them cancels out. The third says how much is noise. The batches
     * that are there are various too, and not in the caches either.
     */
    private void pairs(Model model, Optimizing optimizing, TorchBatches batches, int rounds) {
        Tensor[][] there = new Tensor[THERE][FIELDS.size()];
        for (Tensor[] each : there) {
            try (TorchBatch batch = batches.next()) {
                for (int i = 0; i < each.length; i++) {
                    each[i] = batch.get(FIELDS.get(i)).clone().retainReference();
                }
            }
        }
        double[][] cpu = new double[KINDS][rounds];
        double[][] wall = new double[KINDS][rounds];
        double takenNanos = 0;
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < KINDS; turn++) {
                int kind = (round / 2 + (round % 2 == 0 ? turn : KINDS - turn)) % KINDS;
                long cpuBefore = threads.getCurrentThreadCpuTime();
                long before = System.nanoTime();
                if (kind == 0) {
                    takenNanos += step(model, optimizing, batches);
                } else {
                    step(model, optimizing, there[(2 * round + kind) % THERE]);
                }
                cpu[kind][round] = threads.getCurrentThreadCpuTime() - cpuBefore;
                wall[kind][round] = System.nanoTime() - before;
            }
        }
        System.out.printf(Locale.ROOT, "{\"rounds\": %d, \"step_cpu_ms\": %.3f, \"take_and_close_cpu_us\": %.1f,"
                + " \"over_synthetic_cpu\": %.4f, \"over_synthetic_wall\": %.4f, \"noise_cpu\": %.4f,"
                + " \"noise_wall\": %.4f}%n", rounds, median(cpu[0]) / 1e6, takenNanos / rounds / 1e3,
                ratio(cpu[0], cpu[1]), ratio(wall[0], wall[1]), ratio(cpu[2], cpu[1]), ratio(wall[2], wall[1]));
    }

    /** The median of the ratios of two that ran next to each other. */
    private static double ratio(double[] some, double[] others) {
        double[] ratios = new double[some.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = some[i] / others[i];
        }
        return median(ratios);
    }

    /** Returns the CPU time that this thread took to take and close the batch. */
    private double step(Model model, Optimizing optimizing, TorchBatches batches) {
        long cpu = threads.getCurrentThreadCpuTime();
        try (PointerScope _ = new PointerScope()) {
            TorchBatch batch = batches.next();
            cpu = threads.getCurrentThreadCpuTime() - cpu;
            end(optimizing, model.loss(batch, batch.batch().count()));
            cpu -= threads.getCurrentThreadCpuTime();
            batch.close();
            return cpu + threads.getCurrentThreadCpuTime();
        }
    }

    private static void step(Model model, Optimizing optimizing, Tensor[] fields) {
        try (PointerScope _ = new PointerScope()) {
            end(optimizing, model.loss(fields[0], fields[1], fields[2], fields[3]));
        }
    }

    private static void end(Optimizing optimizing, Model.Loss loss) {
        optimizing.begin();
        loss.sum().backward();
        optimizing.end(loss.sum().item_double(), loss.labels().item_double(), 1e-3);
    }

    /** The CPU time of the loader's threads and of this one for batches that nobody computes with. */
    private void input(TorchBatches batches, int count) {
        double nanos = 0;
        for (int round = 0; round < 2; round++) {                           // the first one warms up
            long loader = loaderNanos();
            long own = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < count; i++) {
                batches.next().close();
            }
            nanos = loaderNanos() - loader + threads.getCurrentThreadCpuTime() - own;
        }
        System.out.printf(Locale.ROOT, "{\"input_cpu_ns_per_token\": %.2f}%n",
                nanos / count / flags.whole("--batch") / flags.whole("--context"));
    }

    /** Times small operations of this thread one by one: while the loader sleeps, and while it fills batches. */
    private static void launches(TorchBatches batches) {
        Tensor small = torch.zeros(16).retainReference();
        Scalar one = new Scalar(1).retainReference();
        for (int round = 0; round < 4; round++) {
            for (boolean isLoading : new boolean[] {false, true}) {
                long[] nanos = new long[LAUNCHES];
                for (int i = 0; i < LAUNCHES; i++) {
                    if (isLoading && i % 20 == 0) {
                        batches.next().close();
                    }
                    long before = System.nanoTime();
                    small.add_(one);
                    nanos[i] = System.nanoTime() - before;
                }
                Arrays.sort(nanos);
                System.out.printf(Locale.ROOT, "{\"loading\": %b, \"p50_us\": %.2f, \"p99_us\": %.2f,"
                        + " \"p99.9_us\": %.2f, \"max_us\": %.1f}%n", isLoading, at(nanos, 0.5), at(nanos, 0.99),
                        at(nanos, 0.999), nanos[LAUNCHES - 1] / 1e3);
            }
        }
    }

    private static double at(long[] sorted, double share) {
        return sorted[(int) (share * sorted.length)] / 1e3;
    }

    private static void write(TorchBatches batches, Path file) throws IOException {
        try (TorchBatch batch = batches.next(); OutputStream out = Files.newOutputStream(file)) {
            for (String field : FIELDS) {
                io.penstock.memory.Tensor tensor = batch.batch().tensor(field);
                ByteBuffer longs = ByteBuffer.allocate(
                        Math.toIntExact(tensor.elementCount() * Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
                for (long i = 0; i < tensor.elementCount(); i++) {
                    longs.putLong(tensor.getLong(i));
                }
                out.write(longs.array());
            }
        }
    }

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

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static long peakBytes() {
        return Pointer.physicalBytes();
    }
}
