// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import org.jspecify.annotations.Nullable;

/**
 * The steps of a close, each of which runs even if earlier ones failed: a failed device reports an error at every call,
 * and must still be released completely. Keeps the first error, with later ones added to it.
 */
public final class Closing {

    private @Nullable Throwable error;

    public Closing step(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            if (error == null) {
                error = e;
            } else if (error != e) {
                error.addSuppressed(e);
            }
        }
        return this;
    }

    /** The first error; null if all steps went well. */
    public @Nullable Throwable error() {
        return error;
    }

    /** Throws the first error, if there is one. */
    public void end() {
        switch (error) {
            case null -> { }
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new AssertionError(error);
        }
    }
}
