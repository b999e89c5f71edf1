package io.penstock.store;

/** A {@link StoreProvider} cannot be loaded, fails, or has the name of another one; the message names it. */
public final class StoreProviderException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StoreProviderException(String message, Throwable cause) {
        super(message, cause);
    }
}
