// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.json.Json;
import io.penstock.loader.DataLoader;
import io.penstock.loader.TransferMode;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much a loader disturbs the thread that launches kernels, in the same process: a thread has a tick every 100
 * microseconds, spins until it is due, and then records an event on its stream, as cheap as a launch can be. Prints a
 * JSON line a situation:
 *
 * <ul>
 *   <li>{@code alone}: there is no loader.
 *   <li>{@code idle}: a loader has filled its slots, and nobody takes a batch.
 *   <li>{@code saturated}: another thread takes batches as fast as they come, with a worker a processor, and with half
 *       and a quarter as many.
 * </ul>
 *
 * <p>{@code late}: from when a tick was due to when its turn came; a thread that was held up makes all the ticks that
 * it missed late. {@code call}: how long recording the event took.
 *
 * <pre>
 *   --store FILE        raw u16 tokens
 *   --device NAME       cuda (default), cuda:N or host
 *   --rounds N          rounds of all situations by turns, whose ticks are put together (3)
 *   --seconds S         of a round in each (1)
 *   --warmup S          before each (0.3)
 * </pre>
 */
public final class LaunchJitter {

    private static final long TICK_NANOS = 100_000;
    private static final int WINDOW_TOKENS = 1024;
    private static final int BATCH = 512;

    private final Device device;
    private final TokenWindows windows;
    private final int rounds;
    private final int ticks;
    private final int warmupTicks;

    private LaunchJitter(Device device, TokenWindows windows, Map<String, String> options) {
        this.device = device;
        this.windows = windows;
        this.rounds = Integer.parseInt(options.getOrDefault("rounds", "3"));
        this.ticks = ticks(options.getOrDefault("seconds", "1"));
        this.warmupTicks = ticks(options.getOrDefault("warmup", "0.3"));
    }

    private static int ticks(String seconds) {
        return (int) Math.max(1, Double.parseDouble(seconds) * 1e9 / TICK_NANOS);
    }

    /** Takes the options above. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Map<String, String> options = LoaderThroughput.options(args);
        try (Device device = Device.open(options.getOrDefault("device", "cuda"));
                TokenStore store = TokenStore.open(Path.of(options.get("store")), "nanogpt")) {
            device.makeCurrent();
            new LaunchJitter(device, TokenWindows.of(store, WINDOW_TOKENS), options).run();
        } catch (DeviceUnavailableException e) {
            System.out.println(Json.write(Map.of("kind", "unavailable", "message", e.getMessage())));
            System.exit(1);
        }
    }

    /** What is beside the ticking thread, and what it found. */
    private final class Situation {
        final String name;
        final int workers;
        final long[] late = new long[rounds * ticks];
        final long[] call = new long[rounds * ticks];
        long batches;
        double seconds;

        Situation(String name, int workers) {
            this.name = name;
            this.workers = workers;
        }

        void round(int round, DeviceStream stream, DeviceEvent event) throws InterruptedException {
            if (workers == 0) {
                measure(round, stream, event, new AtomicLong());
                return;
            }
            try (DataLoader loader = DataLoader.builder(windows).batchSize(BATCH).dropLast().shuffle(1)
                    .collator(CausalLm.widened(DType.I64)).workers(workers).device(device)
                    .transfer(TransferMode.COPY).open()) {
                AtomicLong taken = new AtomicLong();
                if (name.equals("idle")) {
                    loader.next().close();
                    measure(round, stream, event, taken);
                    return;
                }
                Thread trainer = Thread.ofPlatform().start(() -> {
                    device.makeCurrent();
                    try (DeviceStream own = device.openStream("trainer")) {
                        while (taken.get() >= 0) {
                            loader.next(own).close();
                            taken.updateAndGet(batches -> batches < 0 ? batches : batches + 1);
                        }
                        own.synchronize();
                    }
                });
                measure(round, stream, event, taken);
                taken.set(-1);
                trainer.join();
            }
        }

        private void measure(int round, DeviceStream stream, DeviceEvent event, AtomicLong taken) {
            tick(stream, event, new long[warmupTicks], new long[warmupTicks], 0, warmupTicks);
            long before = taken.get();
            tick(stream, event, late, call, round * ticks, ticks);
            batches += taken.get() - before;
            seconds += ticks * TICK_NANOS / 1e9;
            stream.synchronize();
        }

        private static void tick(DeviceStream stream, DeviceEvent event, long[] late, long[] call, int first,
                int count) {
            long due = System.nanoTime();
            for (int i = first; i < first + count; i++) {
                due += TICK_NANOS;
                long now = System.nanoTime();
                while (now < due) {
                    Thread.onSpinWait();
                    now = System.nanoTime();
                }
                stream.record(event);
                late[i] = now - due;
                call[i] = System.nanoTime() - now;
            }
        }

        void print() {
            Arrays.sort(late);
            Arrays.sort(call);
            var line = new LinkedHashMap<String, Object>();
            line.put("kind", "jitter");
            line.put("loader", name);
            line.put("workers", workers);
            line.put("ticks", late.length);
            put(line, "late", late);
            put(line, "call", call);
            line.put("batches_per_second", Math.round(batches / seconds));
            System.out.println(Json.write(line));
        }

        private static void put(Map<String, Object> line, String what, long[] sorted) {
            line.put(what + "_p50_micros", sorted[sorted.length / 2] / 1e3);
            line.put(what + "_p99_micros", sorted[(int) (sorted.length * 99L / 100)] / 1e3);
            line.put(what + "_max_micros", sorted[sorted.length - 1] / 1e3);
        }
    }

    private void run() throws InterruptedException {
        int cores = Runtime.getRuntime().availableProcessors();
        List<Situation> situations = new ArrayList<>(List.of(new Situation("alone", 0),
                new Situation("idle", cores)));
        for (int share = 1; share <= 4 && cores / share > 0; share *= 2) {
            situations.add(new Situation("saturated", cores / share));
        }
        try (DeviceStream stream = device.openStream("launches");
                DeviceEvent event = device.openEvent(EventWait.SPIN)) {
            for (int round = 0; round < rounds; round++) {
                for (Situation situation : situations) {
                    situation.round(round, stream, event);
                }
            }
        }
        situations.forEach(Situation::print);
    }
}
