package io.penstock.collate;

import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Copies integers to a wider integer type, value by value.
 *
 * <p>The loop that matters, {@code u16} to {@code i64} or {@code i32}, reads four tokens as one 64-bit word and writes
 * them as whole words: HotSpot does not vectorise a loop from native memory to native memory, because the two may
 * overlap, and 64-bit loads and stores are what is left to save.
 */
final class Widening {

    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort I16 = le(ValueLayout.JAVA_SHORT_UNALIGNED);
    private static final ValueLayout.OfInt I32 = le(ValueLayout.JAVA_INT_UNALIGNED);
    private static final ValueLayout.OfLong I64 = le(ValueLayout.JAVA_LONG_UNALIGNED);

    private Widening() {
    }

    @SuppressWarnings("unchecked")
    private static <L extends ValueLayout> L le(L layout) {
        return (L) layout.withOrder(ByteOrder.LITTLE_ENDIAN);
    }

    /** Whether the copy is of bytes: the same type, or {@code u32} read as {@code i32}, the same bits. */
    static boolean isPlainCopy(DType from, DType to) {
        return from.byteSize() == to.byteSize();
    }

    /**
     * Copies {@code count} integers; the ranges do not overlap. A narrower type is extended by its sign, or by zeros if
     * it is unsigned.
     */
    static void copy(MemorySegment source, long sourceOffset, DType from,
            MemorySegment target, long targetOffset, DType to, int count) {
        if (isPlainCopy(from, to)) {
            MemorySegment.copy(source, sourceOffset, target, targetOffset, (long) count * to.byteSize());
            return;
        }
        MemorySegment in = source.asSlice(sourceOffset, (long) count * from.byteSize());
        MemorySegment out = target.asSlice(targetOffset, (long) count * to.byteSize());
        if (from == DType.U16 && to == DType.I64) {
            u16ToI64(in, out, count);
        } else if (from == DType.U16 && to == DType.I32) {
            u16ToI32(in, out, count);
        } else if (to == DType.I64) {
            toI64(in, from, out, count);
        } else {
            toI32(in, from, out, count);
        }
    }

    private static void u16ToI64(MemorySegment in, MemorySegment out, int count) {
        int i = 0;
        for (; i <= count - 4; i += 4) {
            long four = in.get(I64, 2L * i);
            out.set(I64, 8L * i, four & 0xFFFF);
            out.set(I64, 8L * i + 8, four >>> 16 & 0xFFFF);
            out.set(I64, 8L * i + 16, four >>> 32 & 0xFFFF);
            out.set(I64, 8L * i + 24, four >>> 48);
        }
        for (; i < count; i++) {
            out.set(I64, 8L * i, in.get(I16, 2L * i) & 0xFFFF);
        }
    }

    private static void u16ToI32(MemorySegment in, MemorySegment out, int count) {
        int i = 0;
        for (; i <= count - 4; i += 4) {
            long four = in.get(I64, 2L * i);
            out.set(I64, 4L * i, four & 0xFFFF | (four & 0xFFFF_0000L) << 16);
            out.set(I64, 4L * i + 8, four >>> 32 & 0xFFFF | (four >>> 48) << 32);
        }
        for (; i < count; i++) {
            out.set(I32, 4L * i, in.get(I16, 2L * i) & 0xFFFF);
        }
    }

    private static void toI64(MemorySegment in, DType from, MemorySegment out, int count) {
        for (int i = 0; i < count; i++) {
            out.set(I64, 8L * i, value(in, from, i));
        }
    }

    private static void toI32(MemorySegment in, DType from, MemorySegment out, int count) {
        for (int i = 0; i < count; i++) {
            out.set(I32, 4L * i, (int) value(in, from, i));
        }
    }

    private static long value(MemorySegment in, DType from, int i) {
        return switch (from) {
            case U8 -> in.get(I8, i) & 0xFF;
            case I8 -> in.get(I8, i);
            case U16 -> in.get(I16, 2L * i) & 0xFFFF;
            case I16 -> in.get(I16, 2L * i);
            case U32 -> in.get(I32, 4L * i) & 0xFFFF_FFFFL;
            case I32 -> in.get(I32, 4L * i);
            default -> throw new IllegalArgumentException(from + " does not widen");
        };
    }
}
