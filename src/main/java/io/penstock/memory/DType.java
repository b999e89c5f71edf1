// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Locale;

/**
 * The element types of tensors.
 *
 * <p>Elements in memory are little-endian and packed; a {@link #BOOL} takes one byte. A batch holds 0 and 1; a file, or
 * a view of it, may hold any byte, and all except 0 are true. {@link #BF16} is the upper half of an IEEE 754 binary32.
 * {@link #F8E4M3} and {@link #F8E5M2} are the OCP 8-bit formats (OFP8, 2023); E4M3 is the variant without infinities.
 */
public enum DType {
    /** Unsigned 8-bit integer. */
    U8(1, Kind.UNSIGNED),
    /** Signed 8-bit integer. */
    I8(1, Kind.SIGNED),
    /** Unsigned 16-bit integer: the usual token dtype for a vocabulary below 65,536. */
    U16(2, Kind.UNSIGNED),
    /** Signed 16-bit integer. */
    I16(2, Kind.SIGNED),
    /** Unsigned 32-bit integer. */
    U32(4, Kind.UNSIGNED),
    /** Signed 32-bit integer. */
    I32(4, Kind.SIGNED),
    /** Unsigned 64-bit integer. */
    U64(8, Kind.UNSIGNED),
    /** Signed 64-bit integer. */
    I64(8, Kind.SIGNED),
    /** bfloat16: 8 exponent bits, 7 fraction bits. */
    BF16(2, Kind.FLOAT),
    /** IEEE 754 binary16. */
    F16(2, Kind.FLOAT),
    /** IEEE 754 binary32. */
    F32(4, Kind.FLOAT),
    /** IEEE 754 binary64. */
    F64(8, Kind.FLOAT),
    /** Truth value, one byte: 0 is false. In a batch true is 1; in a file it may be any other byte. */
    BOOL(1, Kind.BOOL),
    /** OCP 8-bit float: 4 exponent bits, 3 fraction bits, no infinities. */
    F8E4M3(1, Kind.FLOAT),
    /** OCP 8-bit float: 5 exponent bits, 2 fraction bits. */
    F8E5M2(1, Kind.FLOAT);

    private enum Kind { UNSIGNED, SIGNED, FLOAT, BOOL }

    private final int byteSize;
    private final Kind kind;
    private final String id;

    DType(int byteSize, Kind kind) {
        this.byteSize = byteSize;
        this.kind = kind;
        this.id = name().toLowerCase(Locale.ROOT);
    }

    /**
     * {@return the dtype with the given {@link #toString()} name}
     *
     * @param id a lower-case name such as {@code u16} or {@code bf16}
     * @throws IllegalArgumentException if no dtype has that name
     */
    public static DType of(String id) {
        for (DType dtype : values()) {
            if (dtype.id.equals(id)) {
                return dtype;
            }
        }
        throw new IllegalArgumentException("unknown dtype '" + id + "'");
    }

    /** {@return the bytes of an element: 1, 2, 4 or 8} */
    public int byteSize() {
        return byteSize;
    }

    /** {@return whether elements are integers, signed or unsigned; {@link #BOOL} is not one} */
    public boolean isInteger() {
        return kind == Kind.SIGNED || kind == Kind.UNSIGNED;
    }

    /** {@return whether elements are unsigned integers} */
    public boolean isUnsigned() {
        return kind == Kind.UNSIGNED;
    }

    /** {@return whether elements are floating-point numbers, including the 8-bit ones} */
    public boolean isFloat() {
        return kind == Kind.FLOAT;
    }

    /**
     * An integer or truth value in memory.
     *
     * @param memory the memory
     * @param offset the first byte of the element
     * @return the value; a {@code u64} above {@link Long#MAX_VALUE} is returned as its two's complement
     * @throws IndexOutOfBoundsException if there is no such element
     * @throws UnsupportedOperationException if the dtype is floating-point
     */
    public long longAt(MemorySegment memory, long offset) {
        return switch (this) {
            case U8 -> memory.get(JAVA_BYTE, offset) & 0xFF;
            case BOOL -> memory.get(JAVA_BYTE, offset) == 0 ? 0 : 1;
            case I8 -> memory.get(JAVA_BYTE, offset);
            case U16 -> memory.get(LittleEndian.I16, offset) & 0xFFFF;
            case I16 -> memory.get(LittleEndian.I16, offset);
            case U32 -> memory.get(LittleEndian.I32, offset) & 0xFFFF_FFFFL;
            case I32 -> memory.get(LittleEndian.I32, offset);
            case U64, I64 -> memory.get(LittleEndian.I64, offset);
            default -> throw new UnsupportedOperationException(this + " is not an integer type");
        };
    }

    /**
     * A number in memory, as a double.
     *
     * @param memory the memory
     * @param offset the first byte of the element
     * @return the value; exact except for 64-bit integers beyond 2^53
     * @throws IndexOutOfBoundsException if there is no such element
     */
    public double doubleAt(MemorySegment memory, long offset) {
        return switch (this) {
            case F64 -> valueOf(memory.get(LittleEndian.I64, offset));
            case F32 -> valueOf(memory.get(LittleEndian.I32, offset));
            case F16, BF16 -> valueOf(memory.get(LittleEndian.I16, offset));
            case F8E4M3, F8E5M2 -> valueOf(memory.get(JAVA_BYTE, offset));
            case U64 -> {
                long value = memory.get(LittleEndian.I64, offset);
                yield value >= 0 ? value : (value >>> 1 | value & 1) * 2.0;
            }
            default -> longAt(memory, offset);
        };
    }

    /**
     * The value of a floating-point element.
     *
     * @param bits the element's bits; the upper ones of a narrower element are ignored
     * @return its value, which is exact
     * @throws UnsupportedOperationException if the dtype is not floating-point
     */
    public double valueOf(long bits) {
        return switch (this) {
            case F64 -> Double.longBitsToDouble(bits);
            case F32 -> Float.intBitsToFloat((int) bits);
            case F16 -> Float.float16ToFloat((short) bits);
            case BF16 -> Float.intBitsToFloat((int) bits << 16);
            case F8E4M3 -> float8((int) bits, 3, 7, false);
            case F8E5M2 -> float8((int) bits, 2, 15, true);
            default -> throw new UnsupportedOperationException(this + " is not a floating-point type");
        };
    }

    /**
     * {@return the bits of a number in {@code bf16}: the nearest, ties to even; 0x7FC0 for a NaN}
     *
     * @param value the number
     */
    public static short bf16(float value) {
        int bits = Float.floatToRawIntBits(value);
        return Float.isNaN(value) ? 0x7FC0 : (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
    }

    /** Decodes an OFP8 number: sign, exponent, fraction; E5M2 has infinities, E4M3 only the all-ones NaN. */
    private static double float8(int bits, int fractionBits, int bias, boolean ieee) {
        double sign = (bits & 0x80) == 0 ? 1 : -1;
        int fraction = bits & (1 << fractionBits) - 1;
        int exponent = (bits & 0x7F) >> fractionBits;
        int topExponent = (1 << 7 - fractionBits) - 1;
        if (exponent == topExponent && ieee) {
            return fraction == 0 ? sign * Double.POSITIVE_INFINITY : Double.NaN;
        }
        if (exponent == topExponent && fraction == (1 << fractionBits) - 1) {
            return Double.NaN;
        }
        double significand = (exponent == 0 ? 0 : 1) + (double) fraction / (1 << fractionBits);
        return sign * Math.scalb(significand, Math.max(exponent, 1) - bias);
    }

    /** {@return the lower-case name used in the command line, JSON and error messages, for example {@code u16}} */
    @Override
    public String toString() {
        return id;
    }
}
