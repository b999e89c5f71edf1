package io.penstock.loader;

/**
 * What a loader's batches are for: so that a pass over validation data is not charged to the training step beside it.
 */
public enum Role {
    /** Batches that are trained on. */
    TRAIN,
    /** Batches that are only evaluated, between training steps. */
    VALIDATION
}
