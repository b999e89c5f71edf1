package io.penstock.diagnose;

/** How much a finding matters, in ascending order. */
public enum Severity {
    /** Good to know. */
    INFO,
    /** Worth a change. */
    WARN,
    /** The largest gain is here. */
    CRIT;

    /**
     * The name in the summary file.
     *
     * @return {@code info}, {@code warn} or {@code crit}
     */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
