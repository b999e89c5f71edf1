// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.internal.RawMemory;

/** Ascending i32 positions in device memory. */
final class CuSeqlens {
    static int at(long address, long k) {
        return RawMemory.getInt(address + k * Integer.BYTES);
    }

    static void set(long address, long k, long position) {
        RawMemory.setInt(address + k * Integer.BYTES, (int) position);
    }

    /** Counts the positions that are at most x. */
    static long notAbove(long address, long count, long x) {
        long low = 0;
        long high = count;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (at(address, middle) <= x) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
