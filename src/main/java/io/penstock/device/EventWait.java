package io.penstock.device;

/** How a thread waits in {@link DeviceEvent#synchronize()}. */
public enum EventWait {
    /** It keeps asking: the shortest delay, and the right kind for events that only streams wait for or that are polled. */
    SPIN,
    /** It sleeps until it is woken: leaves the core to others, for waits as long as a copy. */
    BLOCK
}
