// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

/**
 * A marker in a stream: {@link DeviceStream#record} sets it, {@link DeviceStream#waitFor} makes another stream wait for
 * it, and a thread polls or waits here.
 *
 * <p>As in CUDA, an event that was never recorded is complete. Recording again replaces the previous mark; the methods
 * here refer to the latest one.
 *
 * <p>Every method but {@link #close()} throws {@link IllegalStateException} once the event is closed, and
 * {@link DeviceException} when the device reports an error.
 */
public interface DeviceEvent extends AutoCloseable {
    /** {@return the event as a number for native code: the {@code cudaEvent_t} address of a CUDA event} */
    long handle();

    /** {@return whether the marked work has ended; true if the event was never recorded} */
    boolean isComplete();

    /** Blocks until the work marked at the time of the call has ended. An interrupt stays set but does not end it. */
    void synchronize();

    /**
     * The time on the device's clock from an earlier mark to this one. Both events are
     * {@linkplain Device#openTimedEvent timed}, of one device, and known to be complete: by {@link #isComplete()}, or
     * because work is that was ordered behind them. This neither waits nor allocates. A GPU's clock has a resolution of
     * half a microsecond, and the result seven digits.
     *
     * @param earlier the event to measure from
     * @return nanoseconds; 0 if the device reached the other mark later
     * @throws IllegalArgumentException if the other event belongs to another device
     * @throws DeviceException if one is not complete (600), is not timed, or was never recorded (400)
     */
    long nanosSince(DeviceEvent earlier);

    /**
     * Closes the event; closing a view leaves the event itself open. Streams already waiting for it still wait.
     *
     * @throws DeviceException if the device reports an error; the event is closed anyway
     */
    @Override
    void close();

    /** How a thread waits in {@link DeviceEvent#synchronize()}. */
    enum EventWait {
        /** The thread polls: lowest latency. Right for events that are polled or that only streams wait for. */
        SPIN,
        /** The thread sleeps until woken: frees the core during waits as long as a copy. */
        BLOCK
    }
}
