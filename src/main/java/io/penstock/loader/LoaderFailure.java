package io.penstock.loader;

/** The error that ended a loader, once there is one: set by whichever thread met it, thrown on the trainer's. */
final class LoaderFailure {

    private volatile RuntimeException error;

    /** Keeps the first error; later ones are added to it as suppressed. */
    synchronized void set(RuntimeException cause) {
        if (error == null) {
            error = cause;
        } else if (error != cause) {
            error.addSuppressed(cause);
        }
    }

    boolean isSet() {
        return error != null;
    }

    /** Throws the error, if there is one. */
    void check() {
        RuntimeException cause = error;
        if (cause != null) {
            throw new IllegalStateException("the loader has ended: " + cause.getMessage(), cause);
        }
    }
}
