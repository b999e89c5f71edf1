// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static io.penstock.diagnose.Scenario.MICRO;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The situations of the matrix, played. Nothing costs anything but what is put in, so that the share of each verdict
 * follows: what it is worked out from stands beside it.
 *
 * <p>The same situations are run on loaders in real time by {@code FaultMatrix}, in {@code bench/}.
 */
final class PlayedFaults {

    /**
     * A scenario with a fault, or without one, and what a diagnosis has to say of it.
     *
     * @param name what is wrong
     * @param base what is the same with and without the fault
     * @param fault what is wrong, put in
     * @param control what stands in its place, where the verdict must not be found
     * @param verdict the verdict to be found
     * @param cause the cause that waiting for input must be laid to; null where the trainer must not be found to wait
     * @param share the verdict's share
     */
    record Played(String name, Consumer<Scenario> base, Consumer<Scenario> fault, Consumer<Scenario> control,
            Verdict verdict, String cause, double share) {

        Scenario scenario(boolean faulty) {
            var scenario = new Scenario();
            scenario.batches = STEPS;
            scenario.workers = 1;
            scenario.plan = _ -> 0;
            scenario.collate = _ -> 0;
            scenario.gap = _ -> 0;
            scenario.handover = 0;
            base.accept(scenario);
            (faulty ? fault : control).accept(scenario);
            return scenario;
        }
    }

    private static final int STEPS = 60;
    /** The steps that count: all but the first. */
    private static final double COUNTED = STEPS - 1;
    private static final Consumer<Scenario> NOTHING = _ -> { };

    private final List<Played> all = new ArrayList<>();

    private PlayedFaults() {
    }

    static List<Played> all() {
        var played = new PlayedFaults();
        played.decoders();
        played.stages();
        played.ring();
        played.machine();
        played.copies();
        played.steps();
        played.healthy();
        return played.all;
    }

    private void add(String name, Consumer<Scenario> base, Consumer<Scenario> fault, Verdict verdict, String cause,
            double share) {
        all.add(new Played(name, base, fault, NOTHING, verdict, cause, share));
    }

    private static int millis(double millis) {
        return (int) (1_000 * millis);
    }

    private static Consumer<Scenario> holding(double millis) {
        return s -> s.hold = _ -> millis(millis);
    }

    /** Of each step, the maker's time is all, and the trainer's is in it. */
    private void decoders() {
        add("sleeping decoder", holding(4), s -> {
            s.decode = _ -> millis(8);
            s.blocked = _ -> millis(8);
        }, Verdict.DECODE, "decode", 4 / 8.0);
        add("burning decoder", holding(3), s -> s.decode = _ -> millis(6), Verdict.DECODE, "decode", 3 / 6.0);
        // Both workers are done at the same time: of two batches in 12 ms, the trainer waits for one.
        add("decoder too slow for two workers", holding(3).andThen(s -> s.workers = 2),
                s -> s.decode = _ -> millis(12), Verdict.DECODE, "decode",
                (STEPS / 2 - 1) * 6 / ((STEPS / 2 - 1) * 12 + 3.0));
        add("no workers", holding(6).andThen(s -> s.workers = 0), s -> s.decode = _ -> millis(3), Verdict.DECODE,
                "decode", 3 / 9.0);
    }

    private void stages() {
        add("sleeping map", holding(3), s -> {
            s.transform = _ -> millis(6);
            s.blocked = _ -> millis(6);
        }, Verdict.TRANSFORM, "transform", 3 / 6.0);
        add("decoder and map", holding(4), s -> {
            s.decode = _ -> millis(5);
            s.transform = _ -> millis(3);
            s.blocked = _ -> millis(8);
        }, Verdict.DECODE, "decode", 4 / 8.0 * 5 / 8);
        add("heavy collator", holding(3), s -> s.collate = _ -> millis(6), Verdict.COLLATE, "collate", 3 / 6.0);
        add("blocking reader", holding(3), s -> {
            s.collate = _ -> millis(6);
            s.blocked = _ -> millis(6);
        }, Verdict.STORAGE, "read_blocked", 3 / 6.0);
    }

    private void ring() {
        // A slot is free when the trainer asks: it holds a batch for 4 ms and waits 4 ms for the decoder.
        all.add(new Played("too few slots", holding(4).andThen(s -> {
            s.keeps = 3;
            s.decode = _ -> millis(4);
        }), s -> s.hostSlots = 3, s -> {
            s.hostSlots = 9;
            s.workers = 2;
        }, Verdict.SLOT_STARVED, "slot", (STEPS - 3) * 4 / ((STEPS - 3) * 8 + 2 * 4.0)));
        // Begun when the batch six before it is closed, so five steps of 2 ms go on meanwhile.
        add("order", holding(2).andThen(s -> s.workers = 2), s -> s.decode = i -> i % 20 == 10 ? millis(120) : 0,
                Verdict.ORDER_BLOCKED, "order", 3 * 110 / (3 * 110 + COUNTED * 2));
    }

    private void machine() {
        // Two thirds of making are without a core, and the trainer waits for five sixths of it.
        add("oversubscribed cores", holding(1).andThen(s -> s.decode = _ -> millis(2)), s -> {
            s.decode = _ -> millis(6);
            s.blocked = _ -> millis(4);
            s.queued = _ -> millis(4);
        }, Verdict.CPU_OVERSUBSCRIBED, "cpu", 5 / 6.0 * 4 / 6);
        add("garbage collection", holding(6).andThen(s -> s.workers = 0), s -> {
            s.decode = _ -> millis(12);
            for (int i = 0; i < STEPS; i++) {
                long begin = Scenario.ORIGIN + i * millis(18) * MICRO;
                s.pauses.add(new Recording.Stretch(begin, begin + millis(12) * MICRO));
            }
        }, Verdict.GC_STALL, "gc", 12 / 18.0);
    }

    private void copies() {
        Consumer<Scenario> copying = holding(3).andThen(s -> {
            s.deviceSlots = 3;
            s.copy = _ -> 10;
            s.copyRate = 25e9;
        });
        add("slow copies, of the step", copying, s -> s.copy = _ -> millis(6), Verdict.H2D_BOUND, null, 3 / 6.0);
        add("slow copies, by their rate", copying, s -> s.copy = _ -> millis(6), Verdict.H2D_SLOW, null, 3 / 6.0);
    }

    private void steps() {
        add("cold start", holding(3), s -> s.decode = i -> i == 0 ? millis(200) : 0, Verdict.COLD_START, null,
                200 / (200 + COUNTED * 3));
        add("tail, of the trainer", holding(3), s -> s.hold = i -> i % 15 == 7 ? millis(30) : millis(3),
                Verdict.TAIL_STALL, null, 4 * 30 / (4 * 30 + (COUNTED - 4) * 3));
        // Begun when the batch three before it is closed: of its 60 ms, two steps of 3 ms go on meanwhile.
        add("tail, of the loader", holding(3).andThen(s -> s.hostSlots = 3),
                s -> s.decode = i -> i % 15 == 7 ? millis(60) : 0, Verdict.TAIL_STALL, "decode",
                4 * 57 / (4 * 57 + (COUNTED - 4) * 3));
        add("work between steps", holding(4), s -> s.gap = _ -> millis(2), Verdict.RESIDUAL_HEAVY, null,
                (COUNTED - 1) * 2 / ((COUNTED - 1) * 6 + 4));
    }

    /** Here what is found is found without a fault, and the control has one. */
    private void healthy() {
        for (String way : List.of("in place", "copy")) {
            Consumer<Scenario> sound = holding(5).andThen(s -> {
                s.deviceSlots = way.equals("copy") ? 3 : 0;
                s.copy = _ -> 10;
                s.decode = _ -> millis(1);
            });
            Consumer<Scenario> slow = s -> s.decode = _ -> millis(10);
            all.add(new Played("healthy, " + way, sound, NOTHING, slow, Verdict.LOADER_AHEAD, null, 0));
            all.add(new Played("the trainer is the limit, " + way, sound, NOTHING, slow, Verdict.COMPUTE_BOUND, null,
                    1));
        }
        all.add(new Played("balanced", holding(8.85).andThen(s -> {
            s.workers = 0;
            s.gap = _ -> millis(0.8);
            s.decode = _ -> 350;
        }), NOTHING, s -> s.decode = _ -> millis(5), Verdict.BALANCED, null, 0));
    }
}
