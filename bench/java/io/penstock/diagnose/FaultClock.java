// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * A stopwatch in the hands of the fault and of the trainer: what a diagnosis is held against. It sees neither accounts
 * nor anything else of the loader, and it runs in the run that is judged, so noise of the machine is in both.
 *
 * <p>All shares are of the time of the steps behind the first one.
 */
final class FaultClock {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** One time that the fault struck. */
    private record Strike(long begin, long end, long cpuNanos) {
    }

    /** One step of the trainer. */
    private record Step(long batch, long requested, long taken, long released) {
    }

    private final Map<Long, List<Strike>> strikes = new ConcurrentHashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private long collectedMillis;

    /** A fault that is timed, and bound to the batch that it strikes. */
    LongConsumer timed(LongConsumer fault) {
        return batch -> {
            long cpu = THREADS.getCurrentThreadCpuTime();
            long begin = System.nanoTime();
            fault.accept(batch);
            long end = System.nanoTime();
            var strike = new Strike(begin, end, THREADS.getCurrentThreadCpuTime() - cpu);
            strikes.merge(batch, List.of(strike), FaultClock::both);
        };
    }

    private static List<Strike> both(List<Strike> a, List<Strike> b) {
        List<Strike> both = new ArrayList<>(a);
        both.addAll(b);
        return both;
    }

    /** Called by the trainer, for each step in order. */
    void step(long requested, long taken, long released) {
        steps.add(new Step(steps.size(), requested, taken, released));
        if (steps.size() == 1) {
            collectedMillis = -collectionMillis();
        }
    }

    /** Called by the trainer behind the last step. */
    void end() {
        collectedMillis += collectionMillis();
    }

    private long nanos(int step) {
        return (step + 1 < steps.size() ? steps.get(step + 1).requested() : steps.get(step).released())
                - steps.get(step).requested();
    }

    private double total() {
        double sum = 0;
        for (int i = 1; i < steps.size(); i++) {
            sum += nanos(i);
        }
        return sum;
    }

    double waited() {
        return steps.stream().skip(1).mapToDouble(step -> step.taken() - step.requested()).sum() / total();
    }

    double held() {
        return steps.stream().skip(1).mapToDouble(step -> step.released() - step.taken()).sum() / total();
    }

    double between() {
        return 1 - waited() - held();
    }

    /** The trainer waiting for a batch while the fault was at that batch. */
    double waitedForFault() {
        return overlaps(1);
    }

    /** The part of it that the fault's thread ran. */
    double waitedForFaultOnCore() {
        return overlaps(onCore());
    }

    /** All waiting but that part: of a fault that does nothing but compute. */
    double waitedForCore() {
        return waited() - waitedForFaultOnCore();
    }

    private double onCore() {
        List<Strike> all = strikes.values().stream().flatMap(List::stream).toList();
        return all.stream().mapToDouble(Strike::cpuNanos).sum()
                / all.stream().mapToDouble(strike -> strike.end() - strike.begin()).sum();
    }

    private double overlaps(double part) {
        double sum = 0;
        for (Step step : steps.subList(1, steps.size())) {
            for (Strike strike : strikes.getOrDefault(step.batch(), List.of())) {
                sum += Intervals.overlapNanos(step.requested(), step.taken(), strike.begin(), strike.end());
            }
        }
        return part * sum / total();
    }

    /** Collecting garbage, by the collectors' own totals. */
    double collected() {
        return collectedMillis * 1e6 / total();
    }

    private static long collectionMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
    }

    /** The wait for the first batch, of the run with it. */
    double first() {
        double first = steps.getFirst().taken() - steps.getFirst().requested();
        return first / (first + total());
    }

    /** Steps of more than twice the median. */
    double slow() {
        long[] nanos = new long[steps.size() - 1];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = nanos(i + 1);
        }
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        double median = sorted[sorted.length / 2];
        return Arrays.stream(nanos).filter(step -> step > 2 * median).sum() / total();
    }
}
