// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/** What a loader's batches are for, which its diagnosis is kept apart by. */
public enum Role {
    /** Batches that are trained on. */
    TRAIN,
    /** Batches that are only evaluated, between training steps. */
    VALIDATION
}
