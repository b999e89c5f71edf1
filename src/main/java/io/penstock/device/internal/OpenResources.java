// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.internal;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Supplier;

/**
 * The streams, events and buffers open on a device, in order of opening, to be closed and reported as leaks.
 *
 * <p>Thread-safe. Opening and closing run one at a time, so nothing is opened on a device that has begun to close.
 */
public final class OpenResources {
    private static final System.Logger LOG = System.getLogger("io.penstock.device");

    public interface Resource {
        /** Returns the resource's name in messages, for example {@code stream 'copies'}. */
        String describe();

        /** Closes it; repeating has no effect. */
        void close();
    }

    private final String device;
    private final SequencedSet<Resource> open = new LinkedHashSet<>();
    private boolean closed;

    /** Creates the empty record of a device. */
    public OpenResources(String device) {
        this.device = device;
    }

    /** Opens a resource and records it; throws {@link IllegalStateException} if the device is closed. */
    public synchronized <R extends Resource> R open(Supplier<R> opening) {
        requireOpen();
        R resource = opening.get();
        open.addLast(resource);
        return resource;
    }

    /** Removes a closed resource from the record. */
    public synchronized void closed(Resource resource) {
        open.remove(resource);
    }

    /** Throws an {@link IllegalStateException} if the device is closed. */
    public synchronized void requireOpen() {
        if (closed) {
            throw new IllegalStateException("device " + device + " is closed");
        }
    }

    /**
     * Closes what is still open, last opened first, and names it in a warning; then throws the first failure, if any.
     * Returns whether this was the first call, so that the device must be closed now.
     */
    public boolean closeAll() {
        List<Resource> leaked;
        synchronized (this) {
            if (closed) {
                return false;
            }
            closed = true;
            leaked = new ArrayList<>(open.reversed());
        }
        RuntimeException failure = null;
        List<String> names = new ArrayList<>();
        for (Resource resource : leaked) {
            names.add(resource.describe());
            try {
                resource.close();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (!names.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "Device {0} was closed before what it had opened: {1}",
                    device, String.join(", ", names));
        }
        if (failure != null) {
            throw failure;
        }
        return true;
    }
}
