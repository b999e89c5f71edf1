package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;

/**
 * Lengths to the mask of padded sequences, so that the mask need not go over the bus.
 *
 * <pre>
 *   lengths          [B]       any integer dtype
 *   attention_mask   [B, T]    bool, u8, i32 or i64: 1 where t &lt; lengths[b], else 0
 * </pre>
 */
public final class AttentionMaskTransform {
    private static final int LENGTHS = 0;
    private static final int LENGTH_TYPE = 1;
    private static final int BATCH = 2;
    private static final int LENGTH = 3;
    private static final int MASK = 4;
    private static final int MASK_TYPE = 5;

    private static final Kernel KERNEL = new Kernel("penstock_attention_mask", 6, AttentionMaskTransform::run);

    private final long[] words = new long[KERNEL.words()];

    /**
     * Masks of one dtype.
     *
     * @param lengthType the lengths' dtype, any integer one
     * @param maskType the mask's: {@link DType#BOOL}, {@link DType#U8}, {@link DType#I32} or {@link DType#I64}
     * @throws IllegalArgumentException if a dtype is none of these
     */
    public AttentionMaskTransform(DType lengthType, DType maskType) {
        words[LENGTH_TYPE] = RawMemory.word(Arguments.integer("lengths", lengthType));
        words[MASK_TYPE] = RawMemory.word(
                Arguments.oneOf("attention_mask", maskType, DType.BOOL, DType.U8, DType.I32, DType.I64));
    }

    /**
     * Enqueues the transform.
     *
     * @param stream where
     * @param lengths address of the lengths
     * @param batch B
     * @param length T, which may differ from batch to batch
     * @param mask address of the mask to write
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public synchronized void enqueue(DeviceStream stream, long lengths, long batch, long length, long mask) {
        long count = Arguments.count("attention_mask", batch, length);
        if (count == 0) {
            return;
        }
        words[LENGTHS] = Arguments.address("lengths", lengths, RawMemory.dtype(words[LENGTH_TYPE]).byteSize());
        words[BATCH] = batch;
        words[LENGTH] = length;
        words[MASK] = Arguments.address("attention_mask", mask, RawMemory.dtype(words[MASK_TYPE]).byteSize());
        stream.launch(KERNEL, Kernel.blocksForItems(count), words);
    }

    private static void run(long[] w) {
        DType maskType = RawMemory.dtype(w[MASK_TYPE]);
        for (long row = 0; row < w[BATCH]; row++) {
            long end = RawMemory.integer(RawMemory.dtype(w[LENGTH_TYPE]), w[LENGTHS], row);
            for (long t = 0; t < w[LENGTH]; t++) {
                RawMemory.setInteger(maskType, w[MASK], row * w[LENGTH] + t, t < end ? 1 : 0);
            }
        }
    }
}
