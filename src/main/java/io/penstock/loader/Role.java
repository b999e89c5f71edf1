// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/** The purpose of a loader's batches. Each has its own diagnosis. */
public enum Role {
    /** Training. */
    TRAIN,
    /** Evaluation between training steps. */
    VALIDATION
}
