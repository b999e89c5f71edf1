// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.PinnedBuffer;
import io.penstock.os.Posix;
import java.lang.foreign.MemorySegment;

/**
 * Memory that catches late readers. Under {@code -Dpenstock.leases=paranoid} each batch that the CPU can read is lent
 * as a copy, in pages of its own. When the batch is given back, nothing can read these pages any more, and no later
 * batch or allocation gets their addresses. So native code that reads a closed batch gets a fault, never another batch.
 *
 * <p>What stays behind is a range of addresses without memory. Where the OS has no such call, and on a GPU, a closed
 * batch is overwritten instead.
 */
public final class GuardedMemory {

    public static final String PROPERTY = "penstock.leases";

    /** Whether batches are guarded. Constant, so that it costs nothing if they are not. */
    public static final boolean IS_ON = "paranoid".equals(System.getProperty(PROPERTY));

    /** A byte that is conspicuous in every dtype: -17 in integers, about -1e230 in f64, -5e28 in f32. */
    private static final byte POISON = (byte) 0xEF;

    /** Returns a copy of a slot's first bytes. Where the OS has no such call, the slot itself. */
    static MemorySegment copyOf(MemorySegment slot, long bytes) {
        return Posix.AVAILABLE ? Posix.mapPages(Math.max(1, bytes)).copyFrom(slot.asSlice(0, bytes)) : slot;
    }

    /** Overwrites a copy and ends all access to it. Throws nothing and never blocks: native code may call it. */
    static void seal(MemorySegment copy) {
        copy.fill(POISON);
        if (Posix.AVAILABLE) {
            Posix.sealPages(copy);
        }
    }

    /** Allocates a buffer of poison. */
    static PinnedBuffer poison(Device device, long bytes) {
        PinnedBuffer buffer = device.allocatePinned(Math.max(1, bytes));
        buffer.segment().fill(POISON);
        return buffer;
    }
}
