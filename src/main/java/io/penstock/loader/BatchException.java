// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.error.PenstockException;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * A batch that could not be made: its number, the sample that was being read, and the cause. The next call of
 * {@link DataLoader#next()} returns the following batch.
 */
public final class BatchException extends PenstockException {

    private static final long serialVersionUID = 1;

    /** The batch's number in its run. */
    private final long batch;
    /** The epoch it belongs to. */
    private final long epoch;
    /** The sample's index in the dataset, or -1. */
    private final long sample;

    BatchException(long batch, long epoch, long sample, Throwable cause) {
        super("batch " + batch + " of epoch " + epoch + (sample < 0 ? "" : ", sample " + sample) + ": "
                + described(cause), cause);
        this.batch = batch;
        this.epoch = epoch;
        this.sample = sample;
    }

    /** Unwraps an exception that only wraps another one. */
    private static String described(Throwable cause) {
        Throwable said = cause instanceof UncheckedIOException && cause.getCause() != null ? cause.getCause() : cause;
        return Objects.requireNonNullElse(said.getMessage(), said.toString());
    }

    /** {@inheritDoc} Of a batch: whether its cause is, or is a failed read: a file may have been cut. */
    @Override
    public boolean isBadInput() {
        return getCause() instanceof PenstockException cause ? cause.isBadInput()
                : getCause() instanceof UncheckedIOException;
    }

    /** {@return the batch's number in its run, as {@link Batch#number} counts} */
    public long batch() {
        return batch;
    }

    /** {@return the batch's epoch, from 0} */
    public long epoch() {
        return epoch;
    }

    /** {@return the index of the sample that was being read, or -1 if none was} */
    public long sample() {
        return sample;
    }
}
