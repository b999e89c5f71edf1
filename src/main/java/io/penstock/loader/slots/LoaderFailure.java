// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import org.jspecify.annotations.Nullable;

/**
 * Why a loader is over: the error that ended it, set by whichever thread met it and thrown on the trainer's, or that it
 * was closed.
 */
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

    /** Adds what went wrong later to the error that there is. */
    synchronized void add(Throwable later) {
        RuntimeException first = error;
        if (first != null && first != later && first.getCause() != later) {
            first.addSuppressed(later);
        }
    }

    /** Ends all waiting: the loader is being closed. */
    public void setClosed() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }

    /** Says that a call throws the error, or what led to it, by itself. */
    void setTold() {
        thrown = true;
    }

    /** Whether waiting is in vain: there is an error, or the loader is being closed. */
    public boolean isOver() {
        return error != null || closed;
    }

    boolean isSet() {
        return error != null;
    }

    /** Whether there is an error that nobody was told of. */
    public boolean isUntold() {
        return error != null && !thrown;
    }

    /** Says that the loader is closed, if it is. */
    public void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the loader is closed");
        }
    }

    /** Throws the error, if there is one, or says that the loader is closed, if it is. */
    public void check() {
        RuntimeException cause = error;
        if (cause != null) {
            thrown = true;
            throw new IllegalStateException("the loader has failed: " + cause.getMessage(), cause);
        }
        checkOpen();
    }
}
