// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;

/** Writes single numbers into memory, little-endian, and what their decoders share. */
final class Scalars {

    private static final int MAX_SHOWN_CHARS = 40;
    /** The suffixes of columns that hold decimal digits. */
    static final Set<String> DECIMAL = Set.of("cls", "cls2", "class", "count", "index", "inx", "id");
    private static final Set<String> PICKLED = Set.of("pyd", "pickle", "pkl", "pth", "pt");

    /** Rejects numbers; pickles, which are programs; and torch files, which are pickles in a zip. */
    static void requireBytes(Column column, String what) {
        if (column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException(column + ": numbers need no decoder, expected " + what);
        }
        if (PICKLED.contains(column.suffix())) {
            throw new IllegalArgumentException(column + ": pickles are never loaded, because they can run code "
                    + "(Decoder.bytes gives their bytes)");
        }
    }

    static void checkSize(long bytes, long targetBytes) {
        if (bytes != targetBytes) {
            throw new CodecException(bytes + " bytes", "" + targetBytes);
        }
    }

    /** Prepares a text for a message: truncates long text and replaces control characters. */
    static String shown(String text) {
        StringBuilder shown = new StringBuilder("'");
        text.codePoints().limit(MAX_SHOWN_CHARS)
                .forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return shown.append(text.length() > MAX_SHOWN_CHARS ? "...'" : "'").toString();
    }

    /** Whether a number fits an integer type. A {@code u64} from 2^63 on is no {@code long}: callers see to it. */
    static boolean holds(DType dtype, long value) {
        int bits = 8 * dtype.byteSize();
        if (dtype.isUnsigned()) {
            return value >= 0 && (bits == 64 || value < 1L << bits);
        }
        return bits == 64 || value >= -1L << bits - 1 && value < 1L << bits - 1;
    }

    /** Writes the lower bytes of a number as an element of that size. */
    static void put(DType dtype, long bits, MemorySegment target, long offset) {
        switch (dtype.byteSize()) {
            case 1 -> target.set(ValueLayout.JAVA_BYTE, offset, (byte) bits);
            case 2 -> target.set(I16, offset, (short) bits);
            case 4 -> target.set(I32, offset, (int) bits);
            default -> target.set(I64, offset, bits);
        }
    }

    /** Returns the bits of a number in a floating-point type. */
    static long bits(DType dtype, double value) {
        return switch (dtype) {
            case F64 -> Double.doubleToRawLongBits(value);
            case F32 -> Float.floatToRawIntBits((float) value);
            case F16 -> Float.floatToFloat16(towardOdd(value));
            default -> throw new IllegalArgumentException("numbers to " + dtype);
        };
    }

    /**
     * Rounds to one of the two neighboring floats, to the odd one if neither is exact: rounding that to 16 bits gives
     * what rounding the number itself does. The nearest float may be half way between two numbers of 16 bits.
     */
    private static float towardOdd(double value) {
        float nearest = (float) value;
        int bits = Float.floatToRawIntBits(nearest);
        if (nearest == value || (bits & 1) == 1) {
            return nearest;
        }
        return Float.intBitsToFloat(Math.abs((double) nearest) < Math.abs(value) ? bits + 1 : bits - 1);
    }
}
