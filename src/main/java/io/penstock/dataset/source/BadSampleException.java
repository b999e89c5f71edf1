// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.error.PenstockException;
import java.io.Serial;

/**
 * A sample whose stored bytes are corrupt or cannot be decoded. Every read of it fails, on any thread; other samples
 * may be good. An unreadable or truncated file is a different error, since a retry may succeed.
 */
public final class BadSampleException extends PenstockException {

    @Serial
    private static final long serialVersionUID = 1;

    /** The index in the dataset. */
    private final long sample;

    /**
     * Creates the error.
     *
     * @param sample its index in the dataset
     * @param cause the fault; names the file or the sample
     */
    public BadSampleException(long sample, Exception cause) {
        super(cause.getMessage(), cause);
        this.sample = sample;
    }

    /** {@return the sample's index in the dataset} */
    public long sample() {
        return sample;
    }

    @Override
    public boolean isBadInput() {
        return true;
    }
}
