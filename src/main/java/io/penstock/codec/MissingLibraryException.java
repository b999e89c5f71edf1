// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec;

import java.io.IOException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** An optional library is missing. The message names what needs it and the dependency to add. */
public final class MissingLibraryException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param need what needs the library, for example {@code reading zstd}
     * @param dependency the dependency to add: an artifact as {@code group:artifact}, or a system library
     * @param cause the failure to load it, if any
     */
    public MissingLibraryException(String need, String dependency, @Nullable Throwable cause) {
        super(need + " needs the library " + dependency + ", which was not found", cause);
    }
}
