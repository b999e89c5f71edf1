// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Resources opened one after another and closed together in reverse order: at the end, or when a later one fails to
 * open.
 */
public final class Opened implements AutoCloseable {

    private final List<Runnable> closes = new ArrayList<>();

    public <R> R add(R resource, Consumer<? super R> close) {
        closes.add(() -> close.accept(resource));
        return resource;
    }

    /** Closes everything while an error is on its way; what goes wrong is added to it. */
    public void closeAfter(Throwable cause) {
        try {
            close();
        } catch (RuntimeException | Error e) {
            if (e != cause) {
                cause.addSuppressed(e);
            }
        }
    }

    @Override
    public void close() {
        var closing = new Closing();
        closes.reversed().forEach(closing::step);
        closes.clear();
        closing.end();
    }
}
