// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.dataset.source.BadSampleException;
import io.penstock.error.PenstockException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.Objects;

/** Distinguishes an interrupt from a failure: a channel closed by an interrupt fails like any other. */
final class Interrupts {

    /**
     * Returns the exception to throw for an error of reading or writing. An {@link InterruptedException} clears the
     * interrupt status.
     */
    static IOException orFailure(Exception error) throws InterruptedException {
        boolean interrupted = Thread.interrupted();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            interrupted |= cause instanceof ClosedByInterruptException;
        }
        if (interrupted) {
            throw (InterruptedException) new InterruptedException("the conversion was interrupted").initCause(error);
        }
        return switch (error) {
            case BadSampleException bad -> throw new ConversionException(bad.getMessage(), bad);
            case PenstockException known -> throw known;
            case UncheckedIOException unchecked -> Objects.requireNonNull(unchecked.getCause());
            case IOException failure -> failure;
            default -> new IOException(error);
        };
    }
}
