// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * Pads concatenated rows of different lengths to a rectangle on the device, so that the padding is not copied there.
 *
 * <pre>
 *   values    [offsets[B]]    elements of any dtype
 *   offsets   [B + 1]         i32 or i64, ascending: row b is values[offsets[b] … offsets[b + 1] - 1]
 *   target    [B, T]          row b truncated to T, or filled up with the padding element
 * </pre>
 *
 * <p>{@link CumulativeLengthTransform} computes offsets from lengths.
 */
public final class PadRowsTransform {
    private static final StructLayout LAYOUT = Word.struct("PadRows",
            "values", "element_bytes", "offsets", "offset_type", "rows", "length", "target", "padding");
    private static final Word VALUES = Word.of(LAYOUT, "values");
    private static final Word ELEMENT_BYTES = Word.of(LAYOUT, "element_bytes");
    private static final Word OFFSETS = Word.of(LAYOUT, "offsets");
    private static final Word OFFSET_TYPE = Word.of(LAYOUT, "offset_type");
    private static final Word ROWS = Word.of(LAYOUT, "rows");
    private static final Word LENGTH = Word.of(LAYOUT, "length");
    private static final Word TARGET = Word.of(LAYOUT, "target");
    private static final Word PADDING = Word.of(LAYOUT, "padding");

    static final Kernel KERNEL = new Kernel("penstock_pad_rows", LAYOUT, PadRowsTransform::run);

    private final MemorySegment arguments = KERNEL.newArguments();
    private final DType offsetType;

    /**
     * Creates the transform.
     *
     * @param dtype the elements' dtype
     * @param offsetType the offsets' dtype, {@link DType#I32} or {@link DType#I64}
     * @param padding the low bits of the padding element: a token's id, or the bits of a float
     * @throws IllegalArgumentException if the offsets' dtype is neither
     */
    public PadRowsTransform(DType dtype, DType offsetType, long padding) {
        this.offsetType = Arguments.oneOf("offsets", offsetType, DType.I32, DType.I64);
        ELEMENT_BYTES.set(arguments, dtype.byteSize());
        OFFSET_TYPE.set(arguments, offsetType);
        PADDING.set(arguments, padding);
    }

    /**
     * Enqueues the transform.
     *
     * @param stream the stream
     * @param values address of the concatenated rows
     * @param offsets address of the offsets
     * @param rows B
     * @param length T, which may differ between batches
     * @param target address of the rectangle, written
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public synchronized void enqueue(
            DeviceStream stream, long values, long offsets, long rows, long length, long target) {
        long count = Arguments.count("target", rows, length);
        if (count == 0) {
            return;
        }
        int elementBytes = (int) ELEMENT_BYTES.get(arguments);
        VALUES.set(arguments, Arguments.address("values", values, elementBytes));
        OFFSETS.set(arguments, Arguments.address("offsets", offsets, offsetType.byteSize()));
        ROWS.set(arguments, rows);
        LENGTH.set(arguments, length);
        TARGET.set(arguments, Arguments.address("target", target, elementBytes));
        stream.launch(KERNEL, Kernel.blocksForItems(count), arguments);
    }

    private static void run(MemorySegment w) {
        DType offsetType = OFFSET_TYPE.dtype(w);
        int elementBytes = (int) ELEMENT_BYTES.get(w);
        long length = LENGTH.get(w);
        long padding = PADDING.get(w);
        for (long row = 0; row < ROWS.get(w); row++) {
            long first = RawMemory.integer(offsetType, OFFSETS.get(w), row);
            long end = RawMemory.integer(offsetType, OFFSETS.get(w), row + 1);
            long taken = Math.clamp(end - first, 0, length);
            long target = TARGET.get(w) + row * length * elementBytes;
            RawMemory.copy(VALUES.get(w) + first * elementBytes, target, taken * elementBytes);
            for (long t = taken; t < length; t++) {
                RawMemory.setBits(elementBytes, target, t, padding);
            }
        }
    }
}
