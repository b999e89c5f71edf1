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
 * Expands lengths to the mask of padded sequences on the device, so that the mask is not copied there.
 *
 * <pre>
 *   lengths          [B]       any integer dtype
 *   attention_mask   [B, T]    bool, u8, i32 or i64: 1 where t &lt; lengths[b], else 0
 * </pre>
 */
public final class AttentionMaskTransform {
    private static final StructLayout LAYOUT = Word.struct("AttentionMask",
            "lengths", "length_type", "batch", "length", "mask", "mask_type");
    private static final Word LENGTHS = Word.of(LAYOUT, "lengths");
    private static final Word LENGTH_TYPE = Word.of(LAYOUT, "length_type");
    private static final Word BATCH = Word.of(LAYOUT, "batch");
    private static final Word LENGTH = Word.of(LAYOUT, "length");
    private static final Word MASK = Word.of(LAYOUT, "mask");
    private static final Word MASK_TYPE = Word.of(LAYOUT, "mask_type");

    static final Kernel KERNEL = new Kernel("penstock_attention_mask", LAYOUT, AttentionMaskTransform::run);

    private final MemorySegment arguments = KERNEL.newArguments();

    /**
     * Creates a mask transform.
     *
     * @param lengthType the lengths' dtype, any integer dtype
     * @param maskType the mask's dtype: {@link DType#BOOL}, {@link DType#U8}, {@link DType#I32} or {@link DType#I64}
     * @throws IllegalArgumentException if a dtype is not supported
     */
    public AttentionMaskTransform(DType lengthType, DType maskType) {
        LENGTH_TYPE.set(arguments, Arguments.integer("lengths", lengthType));
        MASK_TYPE.set(arguments,
                Arguments.oneOf("attention_mask", maskType, DType.BOOL, DType.U8, DType.I32, DType.I64));
    }

    /**
     * Enqueues the transform.
     *
     * @param stream the stream
     * @param lengths address of the lengths
     * @param batch B
     * @param length T, which may differ between batches
     * @param mask address of the mask, written
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public synchronized void enqueue(DeviceStream stream, long lengths, long batch, long length, long mask) {
        long count = Arguments.count("attention_mask", batch, length);
        if (count == 0) {
            return;
        }
        LENGTHS.set(arguments, Arguments.address("lengths", lengths, LENGTH_TYPE.dtype(arguments).byteSize()));
        BATCH.set(arguments, batch);
        LENGTH.set(arguments, length);
        MASK.set(arguments, Arguments.address("attention_mask", mask, MASK_TYPE.dtype(arguments).byteSize()));
        stream.launch(KERNEL, Kernel.blocksForItems(count), arguments);
    }

    private static void run(MemorySegment w) {
        DType maskType = MASK_TYPE.dtype(w);
        long mask = MASK.get(w);
        long length = LENGTH.get(w);
        for (long row = 0; row < BATCH.get(w); row++) {
            long end = RawMemory.integer(LENGTH_TYPE.dtype(w), LENGTHS.get(w), row);
            for (long t = 0; t < length; t++) {
                RawMemory.setInteger(maskType, mask, row * length + t, t < end ? 1 : 0);
            }
        }
    }
}
