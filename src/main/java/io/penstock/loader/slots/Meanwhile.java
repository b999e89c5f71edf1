package io.penstock.loader.slots;

/** What the trainer's thread does instead of waiting for a batch. Of that thread. */
public interface Meanwhile {

    /**
     * Fills a slot that nobody has claimed, if there is one that is free.
     *
     * @return whether a slot was filled; if not, there is nothing to do but wait
     */
    boolean fillOne(Run run);

    /** A batch was taken, and tells how long the ones to come will take to fill. */
    void learn(long fillNanos);
}
