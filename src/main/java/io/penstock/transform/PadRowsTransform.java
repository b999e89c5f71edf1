package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;

/**
 * Rows of different lengths that stand one after another, to a rectangle: a batch goes over the bus without its
 * padding.
 *
 * <pre>
 *   values    [offsets[B]]    elements of any dtype
 *   offsets   [B + 1]         i32 or i64, ascending: row b is values[offsets[b] … offsets[b + 1] - 1]
 *   target    [B, T]          row b cut to T, or filled up with the padding element
 * </pre>
 *
 * <p>{@link CumulativeLengthTransform} makes offsets of lengths.
 */
public final class PadRowsTransform {
    private static final int VALUES = 0;
    private static final int ELEMENT_BYTES = 1;
    private static final int OFFSETS = 2;
    private static final int OFFSET_TYPE = 3;
    private static final int ROWS = 4;
    private static final int LENGTH = 5;
    private static final int TARGET = 6;
    private static final int PADDING = 7;

    private static final Kernel KERNEL = new Kernel("penstock_pad_rows", 8, PadRowsTransform::run);

    private final long[] words = new long[KERNEL.words()];
    private final DType offsetType;

    /**
     * Rows of one dtype.
     *
     * @param dtype the elements' dtype
     * @param offsetType the offsets', {@link DType#I32} or {@link DType#I64}
     * @param padding the low bits of the padding element: a token's id, or the bits of a float
     * @throws IllegalArgumentException if the offsets' dtype is neither
     */
    public PadRowsTransform(DType dtype, DType offsetType, long padding) {
        this.offsetType = Arguments.oneOf("offsets", offsetType, DType.I32, DType.I64);
        words[ELEMENT_BYTES] = dtype.byteSize();
        words[OFFSET_TYPE] = RawMemory.word(offsetType);
        words[PADDING] = padding;
    }

    /**
     * Enqueues the transform.
     *
     * @param stream where
     * @param values address of the rows, one after another
     * @param offsets address of the offsets
     * @param rows B
     * @param length T, which may differ from batch to batch
     * @param target address of the rectangle to write
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public synchronized void enqueue(
            DeviceStream stream, long values, long offsets, long rows, long length, long target) {
        long count = Arguments.count("target", rows, length);
        if (count == 0) {
            return;
        }
        int elementBytes = (int) words[ELEMENT_BYTES];
        words[VALUES] = Arguments.address("values", values, elementBytes);
        words[OFFSETS] = Arguments.address("offsets", offsets, offsetType.byteSize());
        words[ROWS] = rows;
        words[LENGTH] = length;
        words[TARGET] = Arguments.address("target", target, elementBytes);
        stream.launch(KERNEL, Kernel.blocksForItems(count), words);
    }

    private static void run(long[] w) {
        DType offsetType = RawMemory.dtype(w[OFFSET_TYPE]);
        int elementBytes = (int) w[ELEMENT_BYTES];
        for (long row = 0; row < w[ROWS]; row++) {
            long first = RawMemory.integer(offsetType, w[OFFSETS], row);
            long end = RawMemory.integer(offsetType, w[OFFSETS], row + 1);
            long taken = Math.clamp(end - first, 0, w[LENGTH]);
            long target = w[TARGET] + row * w[LENGTH] * elementBytes;
            RawMemory.copy(w[VALUES] + first * elementBytes, target, taken * elementBytes);
            for (long t = taken; t < w[LENGTH]; t++) {
                RawMemory.setBits(elementBytes, target, t, w[PADDING]);
            }
        }
    }
}
