// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.collate.Collator;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.diagnose.Situation.Trainer;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.TransferMode;
import io.penstock.store.TokenStore;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The situations of the matrix, over windows of a store of tokens. A batch's first sample is struck, and no other. The
 * same situations are played in {@code PlayedFaults} of the tests.
 */
final class Faults {

    static final int BATCH = 4;
    static final int WINDOW = 64;
    private static final int STEPS = 60;
    private static final int BURNERS_A_CORE = 2;
    private static final int LIVE_OBJECTS = 400_000;
    private static final long MILLI = Situation.MILLI;

    private final Dataset windows;
    private final Device host;
    private final List<Situation> all = new ArrayList<>();

    /** The device is the loaders'. */
    Faults(TokenStore store, Device host) {
        this.host = host;
        this.windows = TokenWindows.withoutLabels(store, WINDOW, WINDOW);
    }

    List<Situation> all() {
        decoders();
        stages();
        ring();
        machine();
        copies();
        steps();
        healthy();
        return all;
    }

    // ---- what strikes

    static LongConsumer sleeping(double millis) {
        return _ -> Situation.sleep((long) (millis * MILLI));
    }

    static LongConsumer burning(double millis) {
        return _ -> burnUntil(System.nanoTime() + (long) (millis * MILLI));
    }

    private static void burnUntil(long end) {
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    /** Instructions, whatever time they take: what a core less makes slower. */
    private static void burnWork(long units) {
        long x = units;
        for (long i = 0; i < units; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        if (x == 0) {
            throw new IllegalStateException("xorshift never gives 0");
        }
    }

    /** With something to go through, so that the pause is what the call takes. */
    private static void collect(Object[] live) {
        System.gc();
        Reference.reachabilityFence(live);
    }

    private static LongConsumer first(LongConsumer ofBatch) {
        return sample -> {
            if (sample % BATCH == 0) {
                ofBatch.accept(sample / BATCH);
            }
        };
    }

    private static LongConsumer every(LongConsumer ofBatch) {
        return sample -> ofBatch.accept(sample / BATCH);
    }

    // ---- loaders

    private static final LongConsumer NONE = _ -> { };

    private static DataLoaderBuilder loader(Dataset dataset) {
        return DataLoader.builder(dataset).batchSize(BATCH).workers(1);
    }

    private DataLoaderBuilder decoding(LongConsumer ofSample) {
        return loader(new FaultyDataset(windows, null, ofSample));
    }

    /** The settings are the same with and without the fault, which is in the decoder. */
    private BiFunction<FaultClock, Boolean, DataLoaderBuilder> decoder(LongConsumer fault,
            UnaryOperator<DataLoaderBuilder> settings) {
        return (clock, faulty) -> settings.apply(decoding(first(faulty ? clock.timed(fault) : NONE)));
    }

    private void add(String name, String injected, BiFunction<FaultClock, Boolean, DataLoaderBuilder> loader,
            Trainer trainer, Verdict verdict, String cause, double constructed,
            ToDoubleFunction<FaultClock> timed) {
        all.add(new Situation(name, injected, loader, trainer, verdict, cause, constructed, timed));
    }

    private void decoders() {
        add("sleeping decoder", "8 ms a batch", decoder(sleeping(8), same -> same),
                Trainer.holding(4, STEPS), Verdict.DECODE, "decode", 0.5, FaultClock::waitedForFault);
        add("burning decoder", "6 ms of a core a batch", decoder(burning(6), same -> same),
                Trainer.holding(3, STEPS), Verdict.DECODE, "decode", Double.NaN, FaultClock::waitedForFaultOnCore);
        add("decoder too slow for two workers", "12 ms a batch", decoder(sleeping(12), two -> two.workers(2)),
                Trainer.holding(3, STEPS), Verdict.DECODE, "decode", 0.5, FaultClock::waitedForFault);
        add("no workers", "decoder of 3 ms a batch on the trainer's thread",
                decoder(sleeping(3), none -> none.workers(0)),
                Trainer.holding(6, STEPS), Verdict.DECODE, "decode", 1.0 / 3, FaultClock::waitedForFault);
    }

    private void stages() {
        add("sleeping map", "6 ms a batch", (clock, faulty) -> {
            var located = new FaultyDataset(windows, null, null);
            return loader(mapped(located, first(faulty ? clock.timed(sleeping(6)) : NONE)));
        }, Trainer.holding(3, STEPS), Verdict.TRANSFORM, "transform", 0.5, FaultClock::waitedForFault);
        Function<FaultClock, LongConsumer> decode = clock -> every(clock.timed(sleeping(1.25)));
        add("decoder and map", "5 ms and 3 ms a batch, sample by sample", (clock, faulty) -> {
            var decoded = new FaultyDataset(windows, null, faulty ? decode.apply(clock) : NONE);
            return loader(mapped(decoded, every(faulty ? sleeping(0.75) : NONE)));
        }, Trainer.holding(4, STEPS), Verdict.DECODE, "decode", 0.5 * 5 / 8, FaultClock::waitedForFault);
        add("heavy collator", "6 ms of a core a batch", (clock, faulty) -> {
            LongConsumer fault = faulty ? clock.timed(burning(6)) : NONE;
            Collator heavy = Stack.fields().then((plan, _) -> fault.accept(plan.sample(0) / BATCH));
            return loader(windows).collator(heavy);
        }, Trainer.holding(3, STEPS), Verdict.COLLATE, "collate", Double.NaN, FaultClock::waitedForFaultOnCore);
        add("blocking reader", "each batch's read answers after 6 ms",
                (clock, faulty) -> loader(new FaultyDataset(windows,
                        first(faulty ? clock.timed(sleeping(6)) : NONE), null)).readAhead(0),
                Trainer.holding(3, STEPS), Verdict.STORAGE, "read_blocked", 0.5, FaultClock::waitedForFault);
    }

    private static Dataset mapped(FaultyDataset dataset, LongConsumer ofSample) {
        return dataset.map(TokenWindows.TOKENS, dataset.fields().getFirst(), "faulty", (in, _, out) -> {
            ofSample.accept(dataset.located());
            out.segment().copyFrom(in.segment());
        });
    }

    private void ring() {
        add("too few slots", "3 host slots, and the trainer keeps 3 batches; decoder of 4 ms", (clock, faulty) ->
                decoding(first(clock.timed(sleeping(4)))).prefetch(faulty ? 1 : 6).workers(faulty ? 1 : 2),
                new Trainer(_ -> 4 * MILLI, _ -> 0, 3, STEPS), Verdict.SLOT_STARVED, "slot", 0.5,
                FaultClock::waitedForFault);
        add("order", "one batch in 20 takes 120 ms; two workers, 6 slots",
                decoder(batch -> Situation.sleep(batch % 20 == 10 ? 120 * MILLI : 0),
                        ring -> ring.workers(2).prefetch(3)),
                Trainer.holding(2, 100), Verdict.ORDER_BLOCKED, "order", Double.NaN, FaultClock::waitedForFault);
    }

    private void machine() {
        int burners = BURNERS_A_CORE * Runtime.getRuntime().availableProcessors();
        long work = 2_000_000;
        add("oversubscribed cores", burners + " threads that burn beside a decoder that computes",
                (clock, faulty) -> decoding(first(clock.timed(_ -> burnWork(work)))),
                Trainer.holding(1, STEPS), Verdict.CPU_OVERSUBSCRIBED, "cpu", Double.NaN, FaultClock::waitedForCore);
        Object[] live = Stream.generate(Object::new).limit(LIVE_OBJECTS).toArray();
        add("garbage collection", "the decoder has the JVM collect for every batch; no workers",
                decoder(_ -> collect(live), none -> none.workers(0)),
                Trainer.holding(6, 30), Verdict.GC_STALL, "gc", Double.NaN, FaultClock::collected);
    }

    private void copies() {
        for (Verdict verdict : List.of(Verdict.H2D_BOUND, Verdict.H2D_SLOW)) {
            add("slow copies, " + (verdict == Verdict.H2D_BOUND ? "of the step" : "by their rate"),
                    "6 ms more for each copy to the device", (clock, faulty) -> loader(windows)
                            .device(new SlowBus(host, copying(clock, faulty)))
                            .transfer(TransferMode.COPY),
                    Trainer.holding(3, STEPS), verdict, null, 0.5, FaultClock::waitedForFault);
        }
    }

    /** One copy a batch, in order. */
    private static Runnable copying(FaultClock clock, boolean faulty) {
        LongConsumer fault = faulty ? clock.timed(sleeping(6)) : NONE;
        var copies = new AtomicLong();
        return () -> fault.accept(copies.getAndIncrement());
    }

    private void steps() {
        add("cold start", "the first batch takes 200 ms",
                decoder(batch -> Situation.sleep(batch == 0 ? 200 * MILLI : 0), same -> same),
                Trainer.holding(3, STEPS), Verdict.COLD_START, null, 200.0 / (200 + 59 * 3), FaultClock::first);
        add("tail, of the trainer", "one step in 15 takes 30 ms", decoder(NONE, same -> same),
                new Trainer(step -> (step % 15 == 7 ? 30 : 3) * MILLI, _ -> 0, 1, 120), Verdict.TAIL_STALL, null,
                30.0 / (30 + 14 * 3), FaultClock::slow);
        add("tail, of the loader", "one batch in 15 takes 60 ms; 3 slots",
                decoder(batch -> Situation.sleep(batch % 15 == 7 ? 60 * MILLI : 0), few -> few.prefetch(1)),
                Trainer.holding(3, 120), Verdict.TAIL_STALL, "decode", Double.NaN, FaultClock::slow);
        add("work between steps", "2 ms between batches", decoder(NONE, same -> same),
                new Trainer(_ -> 4 * MILLI, _ -> 2 * MILLI, 1, STEPS), Verdict.RESIDUAL_HEAVY, null, 1.0 / 3,
                FaultClock::between);
    }

    /** Here what is found is found without a fault, and the control has one. */
    private void healthy() {
        for (TransferMode mode : List.of(TransferMode.IN_PLACE, TransferMode.COPY)) {
            add("healthy, " + mode.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                    "nothing: decoder of 1 ms, trainer of 5", (_, sound) ->
                            decoding(first(sleeping(sound ? 1 : 10))).transfer(mode),
                    Trainer.holding(5, STEPS), Verdict.LOADER_AHEAD, null, 0, _ -> 0);
            add("the trainer is the limit, " + mode.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                    "nothing: decoder of 1 ms, trainer of 5", (_, sound) ->
                            decoding(first(sleeping(sound ? 1 : 10))).transfer(mode),
                    Trainer.holding(5, STEPS), Verdict.COMPUTE_BOUND, null, 1, FaultClock::held);
        }
        add("balanced", "nothing much: 0.35 ms of decoding and 0.8 ms between steps of 10",
                (_, sound) -> decoding(first(sleeping(sound ? 0.35 : 5))).workers(0),
                new Trainer(_ -> (long) (8.85 * MILLI), _ -> (long) (0.8 * MILLI), 1, STEPS), Verdict.BALANCED, null,
                0, _ -> 0);
    }

    /** Beside a situation: threads that want all cores, if it is the one that has them. */
    static AutoCloseable beside(Situation situation, boolean faulty) {
        if (!faulty || situation.verdict() != Verdict.CPU_OVERSUBSCRIBED) {
            return () -> { };
        }
        int threads = BURNERS_A_CORE * Runtime.getRuntime().availableProcessors();
        List<Thread> burning = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            burning.add(Thread.ofPlatform().daemon().name("burner").start(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    burnWork(10_000);
                }
            }));
        }
        return () -> burning.forEach(Thread::interrupt);
    }
}
