// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Summary;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.DeviceLoader;
import io.penstock.loader.DeviceLoaders;
import io.penstock.loader.LeaseMode;
import io.penstock.loader.TransferMode;
import io.penstock.telemetry.Phase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the device's clock costs and says, and what several loaders make of one device. By turns in one process. Prints
 * a JSON line a measurement:
 *
 * <ul>
 *   <li>{@code clock}: the time of the trainer's thread for taking and closing a batch that is ready, with and without
 *       the device's clock, and for marking a phase of it; copies by that clock, and how much of them the trainer's
 *       stream did not wait for.
 *   <li>{@code loaders}: the rate at which batches arrive on one device from one loader, from two that were opened
 *       apart, and from two that share a worker.
 * </ul>
 *
 * <pre>
 *   --device NAME       cuda (default), cuda:N or host
 *   --bytes N           of a batch (1 MiB)
 *   --rounds N          rounds of each, of which the median counts (5)
 *   --batches N         batches of a round (400; simulated: 100)
 * </pre>
 */
public final class DeviceClocks {

    private static final int MARKS = 4;

    private final Device device;
    private final DeviceStream stream;
    private final long bytes;
    private final int rounds;
    private final int batches;

    private DeviceClocks(Device device, DeviceStream stream, Map<String, String> options) {
        this.device = device;
        this.stream = stream;
        this.bytes = Long.parseLong(options.getOrDefault("bytes", "1048576"));
        this.rounds = Integer.parseInt(options.getOrDefault("rounds", "5"));
        this.batches = Integer.parseInt(options.getOrDefault("batches", CudaLedger.isSimulated() ? "100" : "400"));
    }

    /** Takes the options above. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = LoaderThroughput.options(args);
        try (Device device = Device.open(options.getOrDefault("device", "cuda"));
                DeviceStream stream = device.openStream("trainer")) {
            device.makeCurrent();
            var run = new DeviceClocks(device, stream, options);
            run.clock();
            run.loaders();
        } catch (DeviceUnavailableException e) {
            print(Map.of("kind", "unavailable", "message", e.getMessage()));
            System.exit(1);
        }
    }

    private DataLoaderBuilder settings() {
        PrefilledSlots prefilled = new PrefilledSlots(bytes);
        return DataLoader.builder(prefilled).collator(prefilled).workers(1).transfer(TransferMode.COPY)
                .leases(LeaseMode.REUSED).device(device);
    }

    // ---- the clock

    private void clock() {
        double[] plain = new double[rounds];
        double[] timed = new double[rounds];
        double[] marked = new double[rounds];
        try (DataLoader without = settings().open();
                DataLoader with = settings().withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(with)) {
            for (int i = -1; i < rounds; i++) {
                double a = micros(without, diagnosis, 0);
                double b = micros(with, diagnosis, 0);
                double c = micros(with, diagnosis, MARKS);
                if (i >= 0) {
                    plain[i] = a;
                    timed[i] = b;
                    marked[i] = c;
                }
            }
            Summary summary = diagnosis.summary();
            var line = new LinkedHashMap<String, Object>();
            line.put("kind", "clock");
            line.put("bytes", bytes);
            line.put("take_and_close_micros", rounded(median(plain)));
            line.put("with_clock_micros", rounded(median(timed)));
            line.put("added_micros", rounded(Math.max(0, median(timed) - median(plain))));
            line.put("mark_micros", rounded(Math.max(0, (median(marked) - median(timed)) / MARKS)));
            line.put("clock", summary.clock());
            Summary.DeviceSteps said = summary.input().onDevice();
            if (said != null) {
                line.put("copy_p50_micros", rounded(1e3 * said.copyMillis().p50()));
                line.put("copy_gb_per_second", rounded(bytes / said.copyMillis().p50() / 1e6));
                line.put("overlap", rounded(said.overlap()));
            }
            print(line);
        }
    }

    /** The median time of the trainer's thread for a batch whose copy has been enqueued, and some marks of phases. */
    private double micros(DataLoader loader, Diagnosis diagnosis, int marks) {
        LoaderRounds engine = new LoaderRounds(loader, stream);
        long[] nanos = new long[batches];
        for (int i = 0; i < batches; i++) {
            engine.rest(0);
            long begin = System.nanoTime();
            try (Batch _ = loader.next(stream)) {
                for (int mark = 0; mark < marks; mark++) {
                    diagnosis.begin(Phase.COMPUTE);
                }
            }
            nanos[i] = System.nanoTime() - begin;
        }
        stream.synchronize();
        Arrays.sort(nanos);
        return nanos[batches / 2] / 1e3;
    }

    // ---- several loaders

    private void loaders() throws InterruptedException {
        double[] one = new double[rounds];
        double[] apart = new double[rounds];
        double[] together = new double[rounds];
        try (DataLoader alone = settings().open();
                DataLoader first = settings().open();
                DataLoader second = settings().open();
                DeviceLoaders shared = settings().devices(device, device).openAll()) {
            for (int i = -1; i < rounds; i++) {
                double a = rate(List.of(alone));
                double b = rate(List.of(first, second));
                double c = rate(List.of(shared.get(0), shared.get(1)));
                if (i >= 0) {
                    one[i] = a;
                    apart[i] = b;
                    together[i] = c;
                }
            }
        }
        double base = median(one);
        print("one loader", base, base);
        print("two loaders", median(apart), base);
        print("two loaders that share a worker", median(together), base);
    }

    /** Gigabytes a second that arrive, of all loaders, each on a thread with a stream of its own. */
    private double rate(List<? extends DeviceLoader> loaders) throws InterruptedException {
        List<Thread> trainers = new ArrayList<>();
        long begin = System.nanoTime();
        for (DeviceLoader loader : loaders) {
            trainers.add(Thread.ofPlatform().start(() -> {
                device.makeCurrent();
                try (DeviceStream own = device.openStream("trainer of " + loader.info().name())) {
                    for (int i = 1; i < batches; i++) {
                        loader.next(own).close();
                    }
                    loader.next().close();
                }
            }));
        }
        for (Thread trainer : trainers) {
            trainer.join();
        }
        return (double) bytes * batches * loaders.size() / (System.nanoTime() - begin);
    }

    private void print(String loaders, double rate, double base) {
        var line = new LinkedHashMap<String, Object>();
        line.put("kind", "loaders");
        line.put("loaders", loaders);
        line.put("bytes", bytes);
        line.put("gb_per_second", rounded(rate));
        line.put("over_one", rounded(rate / base));
        print(line);
    }

    private static void print(Map<String, Object> line) {
        System.out.println(Json.write(line));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static double rounded(double value) {
        return Math.round(value * 1e4) / 1e4;
    }
}
