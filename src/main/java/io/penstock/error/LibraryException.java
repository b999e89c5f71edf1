// SPDX-License-Identifier: Apache-2.0
package io.penstock.error;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A library that is needed is missing, or one that is there does not work: a {@code StoreProvider} cannot be loaded,
 * fails, or shares its name with another. The message names the library.
 */
public final class LibraryException extends PenstockException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message names the library and what is wrong with it
     * @param cause the cause, or null
     */
    public LibraryException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * {@return the exception for an optional library that is missing}
     *
     * @param need what needs the library, for example {@code reading zstd}
     * @param dependency the dependency to add: an artifact as {@code group:artifact}, or a system library
     * @param cause the failure to load it, or null
     */
    public static LibraryException missing(String need, String dependency, @Nullable Throwable cause) {
        return new LibraryException(need + " needs the library " + dependency + ", which was not found", cause);
    }
}
