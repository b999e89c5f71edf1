// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.machine.MachineLog;
import io.penstock.loader.LoaderInfo;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.OnDevice;
import io.penstock.telemetry.LoaderReport.Downloads;
import io.penstock.telemetry.LoaderReport.PartTime;
import io.penstock.telemetry.SampleTimes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The complete input of a diagnosis: equal recordings give equal diagnoses.
 *
 * @param settings the loader's settings
 * @param accounts one per complete step, in order; the latest ones, if the run had more
 * @param pauses when the whole JVM was paused; in order, without overlap
 * @param marks the trainer's marks by its thread's clock; null without any. Accounts have those by the device's
 * @param machine the machine it ran on
 * @param parts decoding, and the steps of sample maps, over all samples
 * @param downloads what was read and fetched of remote files
 * @param samples the samples that the trainer took meanwhile
 * @param interludes what the trainer marked as no training; in order, without overlap
 * @param seen what was seen of the machine
 * @param sampleTimes how long single samples took
 */
public record Recording(LoaderInfo settings, List<BatchAccount> accounts, List<Stretch> pauses,
        @Nullable PhaseMarks marks, Machine machine, List<PartTime> parts, Downloads downloads, long samples,
        List<Interlude> interludes, MachineLog seen, SampleTimes sampleTimes) {

    /**
     * A recording without interludes and times of samples, of a machine that was not looked at.
     *
     * @param settings the loader's settings
     * @param accounts one per complete step, in order
     * @param pauses when the whole JVM was paused
     * @param marks the trainer's marks; null without any
     * @param machine the machine it ran on
     * @param parts decoding, and the steps of sample maps
     * @param downloads what was read and fetched of remote files
     * @param samples the samples that the trainer took meanwhile
     */
    public Recording(LoaderInfo settings, List<BatchAccount> accounts, List<Stretch> pauses, @Nullable PhaseMarks marks,
            Machine machine, List<PartTime> parts, Downloads downloads, long samples) {
        this(settings, accounts, pauses, marks, machine, parts, downloads, samples, List.of(), MachineLog.NONE,
                SampleTimes.NONE);
    }

    /** Whether the device's clock has measured every step, so that steps are judged by it. */
    boolean isTimedByDevice() {
        for (int i = 0; i < accounts.size(); i++) {
            OnDevice clock = accounts.get(i).onDevice();
            if (clock == null || clock.exposedNanos() < 0 || clock.stepNanos() < 0 && goesOn(i)) {
                return false;
            }
        }
        return !accounts.isEmpty();
    }

    /** Whether a step lasts until the next account's begins: no epoch, move or unrecorded step is between them. */
    boolean goesOn(int index) {
        return index + 1 < accounts.size() && !accounts.get(index + 1).first()
                && accounts.get(index + 1).sequence() == accounts.get(index).sequence() + 1;
    }

    /**
     * Leaves out the latest steps, if the device's clock has measured all steps but those: it is read some batches
     * later, and two clocks are never mixed. Never more than half of the steps.
     */
    Recording onOneClock() {
        int timed = accounts.size();
        while (timed > 0 && accounts.get(timed - 1).onDevice() == null) {
            timed--;
        }
        Recording earlier = new Recording(settings, accounts.subList(0, timed), pauses, marks, machine, parts,
                downloads, samples, interludes, seen, sampleTimes);
        return timed >= Math.ceilDiv(accounts.size(), 2) && earlier.isTimedByDevice() ? earlier : this;
    }

    /** The part of a period in which the trainer did something else than training. */
    long interludeNanos(long begin, long end) {
        long sum = 0;
        for (Interlude interlude : interludes) {
            sum += Intervals.overlapNanos(begin, end, interlude.beginAt, interlude.endAt);
        }
        return sum;
    }

    /**
     * Something that the trainer does and that is no training.
     *
     * @param name what it is: {@code checkpoint}, {@code evaluation}
     * @param beginAt its begin, by {@link System#nanoTime}
     * @param endAt its end, by the same clock
     */
    public record Interlude(String name, long beginAt, long endAt) {

        /** {@return its length} */
        public long nanos() {
            return endAt - beginAt;
        }
    }

    /**
     * A period.
     *
     * @param beginAt its begin, by {@link System#nanoTime}
     * @param endAt its end, by the same clock
     */
    public record Stretch(long beginAt, long endAt) {

        long nanos() {
            return endAt - beginAt;
        }
    }

    /**
     * The phases that the trainer marked, summed over the accounts' steps.
     *
     * @param steps number of steps with marks
     * @param forwardNanos forward passes
     * @param backwardNanos backward passes
     * @param optimizerNanos optimizer steps
     */
    public record PhaseMarks(long steps, long forwardNanos, long backwardNanos, long optimizerNanos) {
    }

    /**
     * The machine and its measured limits.
     *
     * @param cores processors visible to the JVM
     * @param memcpyBytesPerSecond one thread's memory copy rate; NaN if not measured
     * @param copyBytesPerSecond copy rate from pinned memory to the device; NaN if not measured
     * @param cpuShare the busy share of all cores' time, 0 to 1; NaN if unknown
     */
    public record Machine(int cores, double memcpyBytesPerSecond, double copyBytesPerSecond, double cpuShare) {
    }
}
