package io.penstock.dataset;

import java.io.IOException;
import java.io.Serial;
import java.io.UncheckedIOException;

/**
 * A sample whose stored bytes are damaged or cannot be decoded: it is so whenever it is read, by whatever thread, and
 * other samples may be well. A file that cannot be read, or has shrunk, is none: that may be otherwise the next time.
 */
public final class BadSampleException extends UncheckedIOException {

    @Serial
    private static final long serialVersionUID = 1;

    /** Its index in the dataset. */
    private final long sample;

    /**
     * A bad sample.
     *
     * @param sample its index in the dataset
     * @param cause what is wrong with it; names the file or the sample
     */
    public BadSampleException(long sample, IOException cause) {
        super(cause.getMessage(), cause);
        this.sample = sample;
    }

    /**
     * The sample.
     *
     * @return its index in the dataset
     */
    public long sample() {
        return sample;
    }
}
