// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Steps.Step;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.telemetry.BatchAccount.Usage;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/** What rules and summary need from a recording, computed once. Sums and means are over the steady state. */
final class Facts {

    final Recording recording;
    final List<Step> steps;
    final List<Step> steady;
    /** First batches of epochs and runs. */
    final List<Step> firsts;
    /** Nanoseconds by the cause's ordinal, of the waits that count. */
    final long[] causeNanos;
    final long[] orderedBehindNanos;
    /** How often each cause is the largest of a wait that counts. */
    final long[] largestCause = new long[Cause.values().length];
    final long stepNanos;
    final double medianStepNanos;

    Facts(Recording whole) {
        this.recording = whole.onOneClock();
        this.steps = Steps.of(recording);
        this.steady = Steps.steady(steps);
        this.firsts = steps.stream().filter(step -> step.account().first()).toList();
        this.stepNanos = sum(Step::nanos);
        this.causeNanos = Wait.sum(steady.stream().map(Step::waiting));
        this.orderedBehindNanos = new long[largestCause.length];
        for (Step step : steady) {
            Wait wait = step.waiting();
            if (wait.counts()) {
                Arrays.setAll(orderedBehindNanos, c -> orderedBehindNanos[c] + wait.orderedBehind()[c]);
                largestCause[wait.largest().ordinal()]++;
            }
        }
        this.medianStepNanos = Distribution.of(values(Step::nanos)).p50();
    }

    /** The steps by the trainer's thread, which predictions replay. */
    List<Step> onThread() {
        return recording.isTimedByDevice() ? Steps.onThread(recording) : steps;
    }

    long sum(ToLongFunction<Step> what) {
        return steady.stream().mapToLong(what).sum();
    }

    double mean(ToDoubleFunction<Step> what) {
        return steady.stream().mapToDouble(what).average().orElse(Double.NaN);
    }

    double[] values(ToDoubleFunction<Step> what) {
        return steady.stream().mapToDouble(what).toArray();
    }

    /** The distribution of a count that was read for some batches only. */
    Distribution counts(ToIntFunction<Taking> what) {
        return Distribution.of(steady.stream().mapToInt(step -> what.applyAsInt(step.account().taking()))
                .filter(count -> count >= 0).asDoubleStream().toArray());
    }

    /** A cause's share of the steps' time. */
    double share(Cause cause) {
        return stepNanos == 0 ? 0 : (double) causeNanos[cause.ordinal()] / stepNanos;
    }

    /** What one more slot would have saved, as a share of the steps' time. */
    double starvedShare() {
        return stepNanos == 0 ? 0 : (double) sum(Step::starvedNanos) / stepNanos;
    }

    /** The largest cause of waiting; slots, if batches started late for lack of one. */
    Cause mainCause() {
        return 2 * sum(Step::starvedNanos) >= waitedNanos() ? Cause.SLOT : Wait.largest(causeNanos);
    }

    long mainCauseNanos() {
        Cause cause = mainCause();
        return cause == Cause.SLOT ? Math.max(sum(Step::starvedNanos), causeNanos[cause.ordinal()])
                : causeNanos[cause.ordinal()];
    }

    long waitedNanos() {
        return Arrays.stream(causeNanos).sum();
    }

    /** Samples taken per second of step time; NaN without steps. */
    double samplesPerSecond() {
        return perSecond(step -> step.account().samples());
    }

    double bytesPerSecond() {
        return perSecond(step -> step.account().bytes());
    }

    private double perSecond(ToLongFunction<Step> what) {
        return stepNanos == 0 ? Double.NaN : sum(what) / (stepNanos / 1e9);
    }

    List<BatchAccount> accounts() {
        return recording.accounts();
    }

    /** The sum over batches with measured usage. */
    long usage(ToLongFunction<BatchAccount> what) {
        return accounts().stream().filter(account -> account.making().usage() != null).mapToLong(what).sum();
    }

    /** What threads used for the batches for which that was measured. */
    Stream<Usage> usages() {
        return accounts().stream().flatMap(account -> Stream.ofNullable(account.making().usage()));
    }

    long diskBytes() {
        return usages().mapToLong(Usage::diskBytes).sum();
    }

    /** Bytes from storage over bytes in batches; NaN if not measured. */
    double readAmplification() {
        long bytes = usage(BatchAccount::bytes);
        return bytes == 0 ? Double.NaN : (double) diskBytes() / bytes;
    }

    long pausedNanos() {
        return sum(step -> {
            long begin = step.account().taking().requestedAt();
            long apart = recording.interludeNanos(begin, begin + step.nanos());
            return Math.max(0, Intervals.overlapNanos(recording.pauses(), begin, begin + step.nanos()) - apart);
        });
    }
}
