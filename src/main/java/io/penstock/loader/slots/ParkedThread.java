// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import org.jspecify.annotations.Nullable;

/**
 * The thread that is parked at a gate, with 128 bytes of padding on either side. Wakers read it for every batch, so it
 * must share no cache line with what a waiter writes for every batch: reading a line that another core has written
 * costs some hundred nanoseconds each time.
 *
 * <p>The padding consists of {@code int}s, a size that leaves no gap for the JVM to fill with another field.
 */
@SuppressWarnings("UnusedVariable")
final class ParkedThread {

    /** The JVM places a superclass's fields before those of its subclasses. */
    private abstract static class RoomBefore {
        private int a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15;
        private int a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31;
    }

    private abstract static class Cell extends RoomBefore {
        /** Set by the waiter alone. */
        volatile @Nullable Thread parked;
    }

    /** The cell and the room behind it. */
    abstract static class Padded extends Cell {
        private int b00, b01, b02, b03, b04, b05, b06, b07, b08, b09, b10, b11, b12, b13, b14, b15;
        private int b16, b17, b18, b19, b20, b21, b22, b23, b24, b25, b26, b27, b28, b29, b30, b31;
    }
}
