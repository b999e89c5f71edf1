package io.penstock.diagnose.trace;

/**
 * Which steps of a run a trace shows, as PyTorch's profiler is told: it waits, then warms up, then is active. Steps are
 * counted from the loader's first one. Accounts are kept at all times, so a step of warm-up costs the same as one of
 * waiting, and neither is shown; they are two numbers so that a schedule can be taken over as it is.
 *
 * @param waitSteps steps at the start that are passed over
 * @param warmupSteps steps behind these that are passed over too
 * @param activeSteps steps behind these, which are shown
 */
public record TraceWindow(long waitSteps, long warmupSteps, long activeSteps) {

    /** Every step that is recorded. */
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
     * A window as an option has it.
     *
     * @param text {@code WAIT,WARMUP,ACTIVE}
     * @return the window
     * @throws IllegalArgumentException if it is none
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
