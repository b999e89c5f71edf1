package io.penstock.store;

/** A {@link StoreProvider} cannot be loaded, fails, or shares its name with another; the message names it. */
public final class StoreProviderException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StoreProviderException(String message, Throwable cause) {
        super(message, cause);
    }
}
