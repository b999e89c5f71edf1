package io.penstock.transform;

import io.penstock.memory.DType;
import java.util.Arrays;
import java.util.Locale;

/** The checks that transforms make of what they are given. */
final class Arguments {
    private Arguments() {
    }

    static DType integer(String what, DType dtype) {
        if (!dtype.isInteger()) {
            throw new IllegalArgumentException(what + ": " + dtype + ", expected an integer dtype");
        }
        return dtype;
    }

    static DType oneOf(String what, DType dtype, DType... expected) {
        if (!Arrays.asList(expected).contains(dtype)) {
            throw new IllegalArgumentException(
                    what + ": " + dtype + ", expected one of " + Arrays.toString(expected).toLowerCase(Locale.ROOT));
        }
        return dtype;
    }

    static long atLeast(long least, String what, long value) {
        if (value < least) {
            throw new IllegalArgumentException(what + ": " + value + ", expected at least " + least);
        }
        return value;
    }

    /** How many elements a shape has; kernels write such counts as i32. */
    static long count31(String what, long rows, long columns) {
        atLeast(0, what, rows);
        long count = Math.multiplyExact(rows, columns);
        if (count > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(what + ": " + rows + " x " + columns + " is more than 2^31 - 1");
        }
        return count;
    }

    /** An address that elements of a size can be at. */
    static long address(String what, long address, int alignmentBytes) {
        if (address == 0) {
            throw new IllegalArgumentException(what + ": address 0");
        }
        return optional(what, address, alignmentBytes);
    }

    /** The same, where 0 says that there is nothing. */
    static long optional(String what, long address, int alignmentBytes) {
        if (address % alignmentBytes != 0) {
            throw new IllegalArgumentException(what + ": address 0x" + Long.toHexString(address)
                    + " is not a multiple of " + alignmentBytes);
        }
        return address;
    }
}
