package io.penstock.diagnose;

import io.penstock.loader.LoaderInfo;
import io.penstock.telemetry.BatchAccount;
import java.util.List;

/**
 * What a diagnosis is made from, and nothing else: a recording that is read back gives the same one.
 *
 * @param settings the loader's
 * @param accounts one a step that is complete, in order; the latest ones, if the run had more
 * @param pauses when the whole JVM stood still; in order, without overlap
 * @param marks what the trainer marked; null if it marked nothing
 * @param machine what it ran on
 */
public record Recording(LoaderInfo settings, List<BatchAccount> accounts, List<Stretch> pauses, Marks marks,
        Machine machine) {

    /**
     * A stretch of time.
     *
     * @param beginAt as {@link System#nanoTime} tells it
     * @param endAt likewise
     */
    public record Stretch(long beginAt, long endAt) {
    }

    /**
     * Phases of the step that the trainer marked, summed over the steps of the accounts.
     *
     * @param steps how many steps had marks
     * @param forwardNanos forward passes
     * @param backwardNanos backward passes
     * @param optimizerNanos optimizer steps
     */
    public record Marks(long steps, long forwardNanos, long backwardNanos, long optimizerNanos) {
    }

    /**
     * The machine, with what was probed of it.
     *
     * @param cores processors that the JVM sees
     * @param memcpyBytesPerSecond what one thread copies from memory to memory; NaN if it was not probed
     * @param copyBytesPerSecond what a copy from pinned memory to the device reaches; NaN if it was not probed
     * @param cpuShare the share of all cores' time that was used by anything, 0 to 1; NaN if unknown
     */
    public record Machine(int cores, double memcpyBytesPerSecond, double copyBytesPerSecond, double cpuShare) {
    }
}
