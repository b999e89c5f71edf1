// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/**
 * What to do about a damaged sample: its checksum is wrong, or it cannot be decoded. The result does not depend on
 * workers, ranks, batch size or where a run was resumed; {@code docs/spec/bad-samples.md} specifies it.
 */
public enum BadSamplePolicy {
    /** The call for its batch throws {@link BatchException}; the next call continues with the following batch. */
    FAIL,
    /** Another sample of the dataset takes its row, chosen by the seed, the epoch and the bad sample. */
    REPLACE,
    /**
     * It has no weight: the rows after it move up, and {@link Batch#valid} is one less. The shape is the same: another
     * sample, as for {@link #REPLACE}, fills the last row. In a batch by a token budget without padding, its row is
     * left out instead: {@link Batch#count} is one less too, and ranks may differ in it.
     */
    SKIP;

    /**
     * A sample that could not be read and was left out.
     *
     * @param sample its index in the dataset
     * @param reason the fault in one line that names the file or the sample
     */
    public record BadSample(long sample, String reason) {
    }
}
