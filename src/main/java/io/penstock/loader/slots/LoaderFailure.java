// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import org.jspecify.annotations.Nullable;

/** Why a loader has ended: an error, set by the thread that met it and thrown on the trainer's, or by its close. */
public final class LoaderFailure {

    private volatile @Nullable RuntimeException error;
    private volatile boolean thrown;
    private volatile boolean closed;

    /** Keeps the first error; later ones are added to it as suppressed. */
    public synchronized void set(RuntimeException cause) {
        if (error == null) {
            error = cause;
        } else {
            add(cause);
        }
    }

    /** Adds a later error to the first one. */
    synchronized void add(Throwable later) {
        RuntimeException first = error;
        if (first != null && first != later && first.getCause() != later) {
            first.addSuppressed(later);
        }
    }

    /** Ends all waiting because the loader is being closed. */
    public void setClosed() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }

    /** Records that a caller gets the error, or what led to it. */
    public void setTold() {
        thrown = true;
    }

    /** Whether waiting is pointless: there is an error, or the loader is being closed. */
    public boolean isOver() {
        return error != null || closed;
    }

    boolean isSet() {
        return error != null;
    }

    /** Whether there is an error that no caller was told. */
    public boolean isUntold() {
        return error != null && !thrown;
    }

    /** Throws if the loader is closed. */
    public void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the loader is closed");
        }
    }

    /** Throws the error, if there is one; otherwise throws if the loader is closed. */
    public void check() {
        RuntimeException cause = error;
        if (cause != null) {
            thrown = true;
            throw new IllegalStateException("the loader has failed: " + cause.getMessage(), cause);
        }
        checkOpen();
    }
}
