// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import org.jspecify.annotations.Nullable;

/** A {@link StoreProvider} cannot be loaded, fails, or shares its name with another; the message names it. */
public final class StoreProviderException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StoreProviderException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
