// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.format.ByteSwap;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The type of a dataset's or an attribute's elements.
 *
 * @param byteSize the size of an element in the file
 * @param dtype our type of a number, otherwise null. Integers of 24 bits are widened to 32
 * @param name a number's type in numpy's notation, such as {@code <u2}; otherwise a description
 * @param dims the dimensions of each element; usually none
 * @param padding the padding of a fixed string
 */
record Datatype(Kind kind, long byteSize, @Nullable DType dtype, boolean isBigEndian, String name, long[] dims,
        int padding) {

    enum Kind {
        NUMBER,
        FIXED_STRING,
        VARIABLE_STRING,
        OTHER
    }

    /** A string padded with spaces; others end at the first byte 0. */
    static final int SPACE_PADDED = 2;

    private static final long[] NO_DIMS = {};
    private static final int MAX_DEPTH = 8;
    private static final int MAX_LISTED_MEMBERS = 256;

    private static final int FIXED_POINT = 0;
    private static final int FLOATING_POINT = 1;
    private static final int STRING = 3;
    private static final int BITFIELD = 4;
    private static final int ENUM = 8;
    private static final int VARIABLE_LENGTH = 9;
    private static final int ARRAY = 10;
    private static final List<String> CLASS_NAMES = List.of("integers", "floats", "times", "strings", "bit fields",
            "opaque bytes", "compounds", "references", "enumerations", "sequences of variable length", "arrays",
            "complex numbers");

    private static final int BIG_ENDIAN = 1;
    private static final int SIGNED = 8;
    private static final int VAX = 0x40;

    /** The layout of an IEEE float, or of a similar one. */
    private record FloatLayout(long size, int sign, int exponentAt, int exponentBits, int mantissaBits, long bias,
            DType dtype) {
    }

    private static final List<FloatLayout> FLOATS = List.of(
            new FloatLayout(8, 63, 52, 11, 52, 1023, DType.F64),
            new FloatLayout(4, 31, 23, 8, 23, 127, DType.F32),
            new FloatLayout(2, 15, 10, 5, 10, 15, DType.F16),
            new FloatLayout(2, 15, 7, 8, 7, 127, DType.BF16),
            new FloatLayout(1, 7, 3, 4, 3, 7, DType.F8E4M3),
            new FloatLayout(1, 7, 2, 5, 2, 15, DType.F8E5M2));

    static Datatype read(Cursor at) {
        return read(at, 0);
    }

    private static Datatype read(Cursor at, int depth) {
        int first = at.u8();
        int version = first >> 4;
        int typeClass = first & 0xF;
        int bits = (int) at.number(3);
        long size = at.u32();
        if (version < 1 || version > 5 || typeClass >= CLASS_NAMES.size() || depth > MAX_DEPTH) {
            throw at.malformed("datatype of class " + typeClass + ", version " + version,
                    "class 0 to " + (CLASS_NAMES.size() - 1) + ", version 1 to 5, " + MAX_DEPTH + " levels");
        }
        if (size == 0 && typeClass != STRING) {
            throw at.malformed(CLASS_NAMES.get(typeClass) + " of 0 bytes", "at least 1");
        }
        return switch (typeClass) {
            case FIXED_POINT, BITFIELD -> integer(at, typeClass, bits, size);
            case FLOATING_POINT -> floating(at, bits, size);
            case STRING -> new Datatype(Kind.FIXED_STRING, size, null, false, "strings of " + size + " bytes",
                    NO_DIMS, bits & 0xF);
            case ENUM -> enumeration(at, version, bits & 0xFFFF, read(at, depth + 1));
            case VARIABLE_LENGTH -> (bits & 0xF) == 1
                    ? new Datatype(Kind.VARIABLE_STRING, size, null, false, "strings of variable length", NO_DIMS, 0)
                    : other(size, CLASS_NAMES.get(typeClass));
            case ARRAY -> array(at, version, size, depth);
            default -> other(size, CLASS_NAMES.get(typeClass));
        };
    }

    private static Datatype other(long size, String name) {
        return new Datatype(Kind.OTHER, size, null, false, name, NO_DIMS, 0);
    }

    private static Datatype number(DType dtype, long size, boolean bigEndian, @Nullable String code) {
        boolean swapped = bigEndian && size > 1;
        String name = code == null ? dtype.toString().replace("f8e", "f8_e")
                : (size == 1 ? "|" : swapped ? ">" : "<") + code + size;
        return new Datatype(Kind.NUMBER, size, dtype, swapped, name, NO_DIMS, 0);
    }

    DType number() {
        return Objects.requireNonNull(dtype, name);
    }

    /** Tells whether a number has fewer bytes in the file than as our dtype: 3 instead of 4. */
    boolean isWidened() {
        return numberBytes() != number().byteSize();
    }

    private long numberBytes() {
        return byteSize / LongStream.of(dims).reduce(1, (a, b) -> a * b);
    }

    /** Returns the size in the file of numbers that have a given size as our dtype. */
    long storedBytes(long bytes) {
        return bytes / number().byteSize() * numberBytes();
    }

    /** Converts numbers in place if they are big-endian. */
    void toLittleEndian(MemorySegment numbers) {
        if (isBigEndian) {
            ByteSwap.inPlace(numbers, number().byteSize());
        }
    }

    /** Widens stored integers of 24 bits, which may be big-endian, to little-endian ones of 32 bits. */
    void widen(MemorySegment stored, MemorySegment target) {
        int high = isBigEndian ? 0 : 2;
        int low = 2 - high;
        boolean unsigned = number().isUnsigned();
        for (long from = 0, to = 0; from < stored.byteSize(); from += 3, to += Integer.BYTES) {
            int top = stored.get(JAVA_BYTE, from + high);
            int rest = (stored.get(JAVA_BYTE, from + 1) & 0xFF) << 8 | stored.get(JAVA_BYTE, from + low) & 0xFF;
            target.set(LittleEndian.I32, to, (unsigned ? top & 0xFF : top) << 16 | rest);
        }
    }

    private static Datatype integer(Cursor at, int typeClass, int bits, long size) {
        int bitOffset = at.u16();
        int precision = at.u16();
        boolean signed = typeClass == FIXED_POINT && (bits & SIGNED) != 0;
        DType dtype = switch ((int) Math.min(size, 16)) {
            case 1 -> signed ? DType.I8 : DType.U8;
            case 2 -> signed ? DType.I16 : DType.U16;
            case 3, 4 -> signed ? DType.I32 : DType.U32;
            case 8 -> signed ? DType.I64 : DType.U64;
            default -> null;
        };
        if (dtype == null || bitOffset != 0 || precision != 8 * size) {
            return other(size, "integers of " + precision + " bits in " + size + " bytes");
        }
        return number(dtype, size, (bits & BIG_ENDIAN) != 0, signed ? "i" : "u");
    }

    private static Datatype floating(Cursor at, int bits, long size) {
        int bitOffset = at.u16();
        int precision = at.u16();
        int exponentAt = at.u8();
        int exponentBits = at.u8();
        int mantissaAt = at.u8();
        int mantissaBits = at.u8();
        long bias = at.u32();
        int sign = bits >> 8 & 0xFF;
        boolean impliedOne = (bits >> 4 & 3) == 2;
        for (FloatLayout known : FLOATS) {
            if (bitOffset == 0 && precision == 8 * size && mantissaAt == 0 && impliedOne && (bits & VAX) == 0
                    && known.equals(new FloatLayout(size, sign, exponentAt, exponentBits, mantissaBits, bias,
                            known.dtype()))) {
                boolean ours = known.dtype() == DType.BF16 || known.dtype().byteSize() == 1;
                return number(known.dtype(), size, (bits & BIG_ENDIAN) != 0, ours ? null : "f");
            }
        }
        return other(size, "floats of " + precision + " bits with " + exponentBits + " for the exponent");
    }

    /** Reads an enumeration as the numbers of its members; that of FALSE and TRUE, which h5py writes, as booleans. */
    private static Datatype enumeration(Cursor at, int version, int count, Datatype base) {
        if (base.kind != Kind.NUMBER || base.dims.length > 0) {
            return other(base.byteSize, "enumerations of " + base.name);
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long start = at.position();
            names.add(at.terminated());
            if (version < 3) {
                at.skip(-(at.position() - start) & 7);
            }
        }
        boolean isBool = base.byteSize == 1 && names.equals(List.of("FALSE", "TRUE")) && at.u8() == 0 && at.u8() == 1;
        String members = count <= MAX_LISTED_MEMBERS ? String.join(",", names) : count + " members";
        return new Datatype(Kind.NUMBER, base.byteSize, isBool ? DType.BOOL : base.dtype, base.isBigEndian,
                "enum{" + members + "} of " + base.name, NO_DIMS, 0);
    }

    private static Datatype array(Cursor at, int version, long size, int depth) {
        int rank = at.u8();
        at.skip(version < 3 ? 3 : 0);
        if (rank > Dataspace.MAX_RANK) {
            throw at.malformed("an array type of " + rank + " dimensions", "at most " + Dataspace.MAX_RANK);
        }
        long[] dims = new long[rank];
        long bytes = 1;
        for (int d = 0; d < rank; d++) {
            dims[d] = at.u32();
            bytes = Math.multiplyHigh(bytes, dims[d]) == 0 ? bytes * dims[d] : -1;
            if (bytes < 1 || bytes > size) {
                throw at.malformed("an array type with too many elements for its " + size + " bytes, or none",
                        "dimensions with a smaller product");
            }
        }
        at.skip(version < 3 ? 4L * rank : 0);
        Datatype base = read(at, depth + 1);
        if (base.kind != Kind.NUMBER) {
            return other(size, "arrays of " + base.name);
        }
        long[] all = LongStream.concat(LongStream.of(dims), LongStream.of(base.dims)).toArray();
        if (bytes * base.byteSize != size || all.length > Dataspace.MAX_RANK) {
            throw at.malformed("an array type of " + size + " bytes", bytes + " times " + base.byteSize);
        }
        return new Datatype(Kind.NUMBER, size, base.dtype, base.isBigEndian, base.name, all, 0);
    }
}
