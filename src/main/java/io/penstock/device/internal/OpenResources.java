package io.penstock.device.internal;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Supplier;

/**
 * The streams, events and buffers that are open on a device, in the order of opening, so that the device can end
 * cleanly and name what was forgotten.
 *
 * <p>Thread-safe. Opening and closing run one at a time, so nothing is opened on a device that has begun to close.
 */
public final class OpenResources {
    private static final System.Logger LOG = System.getLogger("io.penstock.device");

    /** Something that a device opened. */
    public interface Resource {
        /**
         * What messages call it.
         *
         * @return for example {@code stream 'copies'}
         */
        String describe();

        /** Closes it; a second time has no effect. */
        void close();
    }

    private final String device;
    private final SequencedSet<Resource> open = new LinkedHashSet<>();
    private boolean closed;

    /**
     * Nothing is open yet.
     *
     * @param device the device's name
     */
    public OpenResources(String device) {
        this.device = device;
    }

    /**
     * Opens a resource and notes it.
     *
     * @param <R> its type
     * @param opening makes the resource
     * @return the resource
     * @throws IllegalStateException if the device is closed
     */
    public synchronized <R extends Resource> R open(Supplier<R> opening) {
        requireOpen();
        R resource = opening.get();
        open.addLast(resource);
        return resource;
    }

    /**
     * Notes that a resource is closed.
     *
     * @param resource the resource
     */
    public synchronized void closed(Resource resource) {
        open.remove(resource);
    }

    /**
     * Refuses to go on with a closed device.
     *
     * @throws IllegalStateException if the device is closed
     */
    public synchronized void requireOpen() {
        if (closed) {
            throw new IllegalStateException("device " + device + " is closed");
        }
    }

    /**
     * Closes what is still open, the last opened first, and names it in a warning. A failure does not keep the rest
     * from being closed.
     *
     * @return whether this was the first call, and the device is to be closed now
     * @throws RuntimeException the first failure of a resource, after all are closed
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
