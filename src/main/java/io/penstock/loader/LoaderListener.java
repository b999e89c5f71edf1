// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;

/**
 * Learns of every loader of this process, so that a trainer can be diagnosed whose code does not do it. Listeners are
 * called when loaders open and close, never while batches flow; what they throw reaches the trainer, so they throw
 * nothing.
 */
public interface LoaderListener {

    /**
     * A loader is open.
     *
     * @param loader the loader; of several devices, each one's
     */
    void opened(DeviceLoader loader);

    /**
     * A loader is about to be closed, for the first time: its reports can still be read.
     *
     * @param loader the loader
     */
    void closing(DeviceLoader loader);

    /**
     * Adds a listener; one that was added already stays.
     *
     * @param listener called for every loader that opens or closes from now on, on the thread that does that
     */
    static void add(LoaderListener listener) {
        Listeners.ALL.add(listener);
    }

    /**
     * Removes a listener, if it was added.
     *
     * @param listener called no more
     */
    static void remove(LoaderListener listener) {
        Listeners.ALL.remove(listener);
    }
}

/** Those who listen. */
final class Listeners {

    static final Set<LoaderListener> ALL = new CopyOnWriteArraySet<>();

    private Listeners() {
    }
}
