package io.penstock.diagnose;

/** How much a finding matters, in rising order. */
public enum Severity {
    /** To know. */
    INFO,
    /** Worth a change. */
    WARN,
    /** Most of what can be gained is here. */
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
