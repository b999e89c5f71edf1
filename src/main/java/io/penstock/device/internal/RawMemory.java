// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.internal;

import static io.penstock.memory.LittleEndian.F32;
import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory by address, as kernels see it: little-endian, unchecked, without an object per range. */
@SuppressWarnings("restricted")
public final class RawMemory {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;

    private static final long PIECE_BYTES = 1 << 20;
    private static final DType[] DTYPES = DType.values();

    /** The dtype encoded in a word of a kernel's arguments. */
    public static DType dtype(long word) {
        return DTYPES[(int) word];
    }

    /** All memory, by address. */
    public static MemorySegment all() {
        return ALL;
    }

    public static int getInt(long address) {
        return ALL.get(I32, address);
    }

    public static void setInt(long address, int value) {
        ALL.set(I32, address, value);
    }

    public static void get(long address, byte[] bytes, int first, int count) {
        MemorySegment.copy(ALL, I8, address, bytes, first, count);
    }

    public static void set(byte[] bytes, int first, int count, long address) {
        MemorySegment.copy(bytes, first, ALL, I8, address, count);
    }

    public static void set(float[] floats, int first, int count, long address) {
        MemorySegment.copy(floats, first, ALL, F32, address, count);
    }

    public static void set(int[] ints, int first, int count, long address) {
        MemorySegment.copy(ints, first, ALL, I32, address, count);
    }

    public static void set(short[] shorts, int first, int count, long address) {
        MemorySegment.copy(shorts, first, ALL, I16, address, count);
    }

    /** Copies in pieces of some tens of microseconds, because safepoints cannot interrupt a bulk copy. */
    public static void copy(long from, long to, long bytes) {
        for (long done = 0; done < bytes; done += PIECE_BYTES) {
            MemorySegment.copy(ALL, from + done, ALL, to + done, Math.min(PIECE_BYTES, bytes - done));
        }
    }

    public static void clear(long address, long bytes) {
        for (long i = 0; i < bytes; i++) {
            ALL.set(I8, address + i, (byte) 0);
        }
    }

    /** The bits of an element of 1, 2, 4 or 8 bytes, zero-extended. */
    public static long bits(int elementBytes, long address, long i) {
        return switch (elementBytes) {
            case 1 -> ALL.get(I8, address + i) & 0xFFL;
            case 2 -> ALL.get(I16, address + 2 * i) & 0xFFFFL;
            case 4 -> ALL.get(I32, address + 4 * i) & 0xFFFF_FFFFL;
            default -> ALL.get(I64, address + 8 * i);
        };
    }

    public static void setBits(int elementBytes, long address, long i, long bits) {
        switch (elementBytes) {
            case 1 -> ALL.set(I8, address + i, (byte) bits);
            case 2 -> ALL.set(I16, address + 2 * i, (short) bits);
            case 4 -> ALL.set(I32, address + 4 * i, (int) bits);
            default -> ALL.set(I64, address + 8 * i, bits);
        }
    }

    /** An integer or bool element, extended to 64 bits; u64 keeps its bits. */
    public static long integer(DType dtype, long address, long i) {
        return switch (dtype) {
            case I8 -> ALL.get(I8, address + i);
            case I16 -> ALL.get(I16, address + 2 * i);
            case I32 -> ALL.get(I32, address + 4 * i);
            default -> bits(dtype.byteSize(), address, i);
        };
    }

    /** Converts integers between dtypes: extends them or keeps the low bits. */
    public static void convert(DType from, long source, DType to, long target, long count) {
        if (from.byteSize() == to.byteSize()) {
            copy(source, target, count * to.byteSize());
        } else if (from == DType.U16 && to.byteSize() == Long.BYTES) {
            for (long i = 0; i < count; i++) {
                ALL.set(I64, target + 8 * i, ALL.get(I16, source + 2 * i) & 0xFFFFL);
            }
        } else if (from == DType.U16 && to.byteSize() == Integer.BYTES) {
            for (long i = 0; i < count; i++) {
                ALL.set(I32, target + 4 * i, ALL.get(I16, source + 2 * i) & 0xFFFF);
            }
        } else if (from == DType.U32 && to.byteSize() == Long.BYTES) {
            for (long i = 0; i < count; i++) {
                ALL.set(I64, target + 8 * i, ALL.get(I32, source + 4 * i) & 0xFFFF_FFFFL);
            }
        } else {
            for (long i = 0; i < count; i++) {
                setInteger(to, target, i, integer(from, source, i));
            }
        }
    }

    /** Stores the low bits of a value as an integer element. */
    public static void setInteger(DType dtype, long address, long i, long value) {
        setBits(dtype.byteSize(), address, i, value);
    }
}
