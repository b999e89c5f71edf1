// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

/** How a thread waits in {@link DeviceEvent#synchronize()}. */
public enum EventWait {
    /** The thread polls: lowest latency. Right for events that are polled or that only streams wait for. */
    SPIN,
    /** The thread sleeps until woken: frees the core during waits as long as a copy. */
    BLOCK
}
