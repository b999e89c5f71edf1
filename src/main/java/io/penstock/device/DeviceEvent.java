package io.penstock.device;

/**
 * A mark in a stream: {@link DeviceStream#record} sets it, {@link DeviceStream#waitFor} makes another stream wait for
 * it, and a thread asks or waits here.
 *
 * <p>As in CUDA: an event that was never recorded is complete; recording again forgets the mark before; the methods
 * here speak of the latest mark.
 *
 * <p>Every method but {@link #close()} throws {@link IllegalStateException} once the event is closed, and
 * {@link DeviceException} when the device reports an error.
 */
public interface DeviceEvent extends AutoCloseable {
    /**
     * The event as a number: the {@code cudaEvent_t} address of a CUDA event, which native code can be given.
     *
     * @return the handle
     */
    long handle();

    /**
     * Whether the work that the event marks has ended.
     *
     * @return true if it has, or if the event was never recorded
     */
    boolean isComplete();

    /**
     * Blocks until the work that the event marks at the time of the call has ended. An interrupt does not end the wait;
     * the thread's interrupt status is kept.
     */
    void synchronize();

    /**
     * Closes the event; a view of somebody else's event closes only the view. Streams that were told to wait for it
     * still do.
     *
     * @throws DeviceException if the device reports an error; the event is closed all the same
     */
    @Override
    void close();
}
