// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/**
 * What becomes of a batch of which a sample is damaged: its checksum is wrong, or it cannot be decoded. It does not
 * depend on workers, ranks, batch size or where a run was resumed; {@code docs/spec/bad-samples.md} fixes it for ports.
 */
public enum BadSamplePolicy {
    /** The batch is a {@link BatchException}; the loader goes on behind it. */
    FAIL,
    /** Another sample of the dataset takes its row: one that seed, epoch and the bad sample decide. */
    REPLACE,
    /**
     * It has no weight: the rows behind it move up, and {@link Batch#valid} is one less. The shape is the same: another
     * sample, as for {@link #REPLACE}, fills the last row.
     */
    SKIP
}
