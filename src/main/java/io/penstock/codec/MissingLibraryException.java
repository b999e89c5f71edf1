package io.penstock.codec;

import java.io.IOException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A file takes an optional library that is not there. The message names the need and the dependency to add. */
public final class MissingLibraryException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * A library is not there.
     *
     * @param need what takes it, for example {@code reading zstd}
     * @param dependency what to add: an artifact as {@code group:artifact}, or the name of a system's library
     * @param cause what was thrown when it was looked for, if anything was
     */
    public MissingLibraryException(String need, String dependency, @Nullable Throwable cause) {
        super(need + " needs the library " + dependency + ", which is not there", cause);
    }
}
