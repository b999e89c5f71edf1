package io.penstock.loader.slots;

/** What the trainer's thread does while it would wait for a batch. Called by that thread alone. */
public interface Meanwhile {

    /**
     * Fills a free slot that no thread has claimed, if there is one.
     *
     * @return whether it filled a slot; if not, the trainer waits
     */
    boolean fillOne(Run run);

    /** Learns from the batch just taken how long the next ones take to fill. */
    void learn(long fillNanos);
}
