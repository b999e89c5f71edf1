package io.penstock.store;

/** Told how far a long piece of work is. */
@FunctionalInterface
public interface Progress {

    /** Tells nobody. */
    Progress NONE = (_, _) -> { };

    /**
     * Some more is done. Called by the thread that works, every MiB or so.
     *
     * @param doneBytes bytes done
     * @param totalBytes bytes to do in all
     */
    void update(long doneBytes, long totalBytes);
}
