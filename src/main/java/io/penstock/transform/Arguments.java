// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.DeviceFields;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;
import java.util.Locale;

/** Checks of transform arguments. */
final class Arguments {
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

    /** Requires maximum sizes from one dimension on: kernels receive those only once. */
    static void sameInAllBatches(DeviceFields fields, int field, int fromDim) {
        TensorSpec greatest = fields.layout().fields().get(field);
        for (int d = fromDim; d < greatest.rank(); d++) {
            if (fields.dim(field, d) != greatest.dim(d)) {
                throw new IllegalArgumentException(greatest + ": dimension " + d + " is " + fields.dim(field, d)
                        + " in this batch, expected it to be the same in all");
            }
        }
    }

    /** The element count of a shape. */
    static long count(String what, long rows, long columns) {
        return count(what, rows, columns, Long.MAX_VALUE, "2^63 - 1");
    }

    /** The same for counts that kernels hold as i32. */
    static long count31(String what, long rows, long columns) {
        return count(what, rows, columns, Integer.MAX_VALUE, "2^31 - 1");
    }

    private static long count(String what, long rows, long columns, long most, String mostText) {
        if (rows < 0 || columns < 0 || columns > 0 && rows > most / columns) {
            throw new IllegalArgumentException(
                    what + ": " + rows + " x " + columns + ", expected at least 0 and at most " + mostText);
        }
        return rows * columns;
    }

    /** Checks an address against its elements' alignment. */
    static long address(String what, long address, int alignmentBytes) {
        if (address == 0) {
            throw new IllegalArgumentException(what + ": address 0");
        }
        return optional(what, address, alignmentBytes);
    }

    /** The same for an optional address, where 0 means none. */
    static long optional(String what, long address, int alignmentBytes) {
        if (address % alignmentBytes != 0) {
            throw new IllegalArgumentException(what + ": address 0x" + Long.toHexString(address)
                    + " is not a multiple of " + alignmentBytes);
        }
        return address;
    }
}
