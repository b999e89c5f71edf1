// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

/** How long a thread has waited for samples to arrive, and why. Of one thread. */
public final class ArrivalWait {

    /** Nanoseconds in which the source had nothing. */
    public long emptyNanos;
    /** Nanoseconds in which the source had more than was read. */
    public long slowNanos;

    /** Creates one that has not waited. */
    public ArrivalWait() {
    }
}
