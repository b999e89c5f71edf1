// SPDX-License-Identifier: Apache-2.0
package io.penstock.error;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Something that a user can do something about, other than a failure of I/O, which is an {@link java.io.IOException}.
 * The message is one line and names what, where, found and expected.
 *
 * <table>
 * <caption>What to do about each</caption>
 * <tr><th>Exception</th><th>Do</th></tr>
 * <tr><td>{@link MalformedStoreException}</td><td>repair or replace the file that it names</td></tr>
 * <tr><td>{@link CodecException}</td><td>skip or repair the value; the caller knows its file</td></tr>
 * <tr><td>{@link LimitException}</td><td>raise the limit that it names, if the input is trusted</td></tr>
 * <tr><td>{@link LibraryException}</td><td>add, replace or remove the library that it names</td></tr>
 * <tr><td>{@code dataset.source.BadSampleException}</td><td>set a policy for bad samples, or repair the file</td></tr>
 * <tr><td>{@code loader.BatchException}</td><td>call {@code next()} again: it returns the following batch</td></tr>
 * <tr><td>{@code loader.LoaderInterruptedException}</td><td>call {@code next()} again for the same batch, or
 * close</td></tr>
 * <tr><td>{@code stream.LaneEndException}</td><td>end all ranks before that record, or read one lane</td></tr>
 * <tr><td>{@code state.StateMismatchException}</td><td>resume with the dataset, seed and order of the state</td></tr>
 * <tr><td>{@code device.DeviceUnavailableException}</td><td>install what it names, or use the host device</td></tr>
 * <tr><td>{@code device.DeviceException}</td><td>close everything on the device; most often a kernel's bug</td></tr>
 * </table>
 *
 * <p>A wrong argument is an {@link IllegalArgumentException}, and use after {@code close()} an {@link
 * IllegalStateException}: the calling code is to be changed.
 */
public abstract class PenstockException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message what, where, found and expected, in one line
     * @param cause the cause, or null
     */
    protected PenstockException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * {@return whether the input is at fault: a file, a value in it or a saved state, and neither the program nor the
     * machine} The command line then exits with status 3 instead of 1.
     */
    public boolean isBadInput() {
        return false;
    }
}
