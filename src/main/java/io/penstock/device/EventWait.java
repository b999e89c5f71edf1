package io.penstock.device;

/** How a thread waits in {@link DeviceEvent#synchronize()}. */
public enum EventWait {
    /** It keeps asking: the shortest delay. The right kind for events that are polled, or that only streams await. */
    SPIN,
    /** It sleeps until it is woken: leaves the core to others, for waits as long as a copy. */
    BLOCK
}
