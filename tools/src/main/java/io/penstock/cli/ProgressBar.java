// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.Locale;
import java.util.function.Supplier;

/** A job's progress on one line of a terminal. Draws nothing within the first second. For one thread. */
final class ProgressBar implements AutoCloseable {

    private static final long QUIET_NANOS = 1_000_000_000L;
    private static final long REDRAW_NANOS = 100_000_000L;
    private static final int BAR_CHARS = 30;
    /** From this total on, the work has no end. */
    private static final long ENDLESS = 1L << 40;
    private static final String ERASE_LINE = "\r\u001b[K";

    private final PrintWriter terminal;
    private final String unit;
    private final long startNanos;
    private String label;
    private long phaseNanos;
    /** The work that was done before the first update of this part. */
    private long phaseDone;
    private long drawnNanos;
    private boolean drawn;

    /** A bar that nobody sees. */
    static ProgressBar hidden() {
        return new ProgressBar(new PrintWriter(Writer.nullWriter()), "", "");
    }

    /** The unit is {@code B} for bytes. */
    ProgressBar(PrintWriter terminal, String label, String unit) {
        this(terminal, label, unit, System.nanoTime());
    }

    ProgressBar(PrintWriter terminal, String label, String unit, long startNanos) {
        this.terminal = terminal;
        this.label = label;
        this.unit = unit;
        this.startNanos = startNanos;
        this.phaseNanos = startNanos;
    }

    /** Whether standard error is a terminal: the launcher says so; without the launcher, Java's console does. */
    static boolean isTerminal() {
        String forced = System.getProperty("penstock.terminal");
        return forced != null ? Boolean.parseBoolean(forced)
                : System.console() != null && System.console().isTerminal();
    }

    /** Begins a part of the job: it has its own name and rate. */
    void phase(String name, long done, long nowNanos) {
        if (!name.equals(label)) {
            label = name;
            phaseDone = done;
            phaseNanos = nowNanos;
            drawnNanos = nowNanos - REDRAW_NANOS;
        }
    }

    void update(String phase, long done, long total) {
        update(phase, done, total, System.nanoTime());
    }

    void update(String phase, long done, long total, long nowNanos) {
        phase(phase, done, nowNanos);
        update(done, total, nowNanos);
    }

    void update(long done, long total) {
        update(done, total, System.nanoTime());
    }

    void update(long done, long total, long nowNanos) {
        draw(nowNanos, () -> line(done, total, Math.max(1e-3, (nowNanos - phaseNanos) / 1e9)));
    }

    private void draw(long nowNanos, Supplier<String> line) {
        if (nowNanos - startNanos >= QUIET_NANOS && !(drawn && nowNanos - drawnNanos < REDRAW_NANOS)) {
            drawn = true;
            drawnNanos = nowNanos;
            terminal.print(ERASE_LINE + line.get());
            terminal.flush();
        }
    }

    /** Shows the share of a given time that has passed. */
    void share(long spentNanos, long ofNanos) {
        draw(System.nanoTime(), () -> bar(spentNanos, ofNanos) + " of " + TimeText.clock(ofNanos / 1e9));
    }

    private String bar(long done, long total) {
        double fraction = total <= 0 ? 0 : Math.clamp((double) done / total, 0, 1);
        int filled = (int) (fraction * BAR_CHARS);
        return String.format(Locale.ROOT, "%s [%s] %3d%%", label,
                "=".repeat(filled) + (filled < BAR_CHARS ? ">" + " ".repeat(BAR_CHARS - filled - 1) : ""),
                (int) (100 * fraction));
    }

    private String line(long done, long total, double seconds) {
        double rate = (done - phaseDone) / seconds;
        if (total >= ENDLESS) {
            return label + " " + NumberText.of(done, unit) + ", " + NumberText.of(rate, unit) + "/s";
        }
        return bar(done, total) + (rate <= 0 ? ""
                : " " + NumberText.of(rate, unit) + "/s, " + TimeText.clock((total - done) / rate) + " left");
    }

    /** Erases the line. */
    @Override
    public void close() {
        if (drawn) {
            terminal.print(ERASE_LINE);
            terminal.flush();
            drawn = false;
        }
    }
}
