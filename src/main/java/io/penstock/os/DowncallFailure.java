// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

/**
 * What to throw when the call of a native function throws. {@code MethodHandle.invokeExact} declares {@link Throwable},
 * though a native function throws nothing: what does come are the exceptions of the checks on its arguments.
 */
public final class DowncallFailure {

    private DowncallFailure() {
    }

    /** Returns the exception to throw; throws at once what is an {@link Error}. */
    public static RuntimeException of(Throwable thrown) {
        return switch (thrown) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new IllegalStateException(thrown);
        };
    }
}
