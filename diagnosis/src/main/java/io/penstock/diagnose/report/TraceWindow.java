// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

/**
 * The steps that a trace shows, given as for PyTorch's profiler: wait, warm up, then be active. Steps are counted from
 * the loader's first one. Accounts are always kept, so waiting and warm-up steps cost the same, and neither is shown;
 * they are two numbers so that an existing schedule works unchanged.
 *
 * @param waitSteps steps skipped at the start
 * @param warmupSteps further steps skipped
 * @param activeSteps steps shown after that
 */
public record TraceWindow(long waitSteps, long warmupSteps, long activeSteps) {

    /** All recorded steps. */
    public static final TraceWindow ALL = new TraceWindow(0, 0, Long.MAX_VALUE);

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if one is negative, or no step is active
     */
    public TraceWindow {
        if (waitSteps < 0 || warmupSteps < 0 || activeSteps < 1) {
            throw new IllegalArgumentException("trace window: found " + waitSteps + " steps to wait, " + warmupSteps
                    + " to warm up and " + activeSteps + " active, expected at least 0, 0 and 1");
        }
    }

    /**
     * {@return the window that a text describes}
     *
     * @param text {@code WAIT,WARMUP,ACTIVE}
     * @throws IllegalArgumentException if it is not a window
     */
    public static TraceWindow of(String text) {
        String[] parts = text.split(",", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException("found '" + text
                    + "', expected WAIT,WARMUP,ACTIVE, for example 100,10,20");
        }
        try {
            return new TraceWindow(Long.parseLong(parts[0].strip()), Long.parseLong(parts[1].strip()),
                    Long.parseLong(parts[2].strip()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("found '" + text + "', expected three numbers, for example 100,10,20",
                    e);
        }
    }

    boolean has(long step) {
        long first = waitSteps + warmupSteps;
        return step >= first && step - first < activeSteps;
    }
}
