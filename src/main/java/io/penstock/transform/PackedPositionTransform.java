package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;

/**
 * Position and document ids of packed rows whose document bounds are known beside the tokens.
 *
 * <pre>
 *   cu_seqlens     [N]       i32, ascending: positions in the B · L tokens, row by row, at which documents begin
 *   position_ids   [B, L]    i32 or i64: how far a token is from the start of its document, or of its row if later
 *   document_ids   [B, L]    i32 or i64: how many documents begin in the row after its first token, up to this one
 * </pre>
 *
 * <p>A last entry B · L, as flash-attention has it, changes nothing. {@link CumulativeLengthTransform} makes
 * {@code cu_seqlens} of lengths.
 */
public final class PackedPositionTransform {
    private static final int CU_SEQLENS = 0;
    private static final int CU_COUNT = 1;
    private static final int BATCH = 2;
    private static final int LENGTH = 3;
    private static final int POSITION_IDS = 4;
    private static final int DOCUMENT_IDS = 5;
    private static final int OUT_TYPE = 6;

    private static final Kernel KERNEL = new Kernel("penstock_packed_positions", 7, PackedPositionTransform::run);

    private final long[] words = new long[KERNEL.words()];
    private final DType outType;

    /**
     * Ids for rows of a fixed length.
     *
     * @param outType the ids' dtype, {@link DType#I32} or {@link DType#I64}
     * @param length L, at least 1
     * @throws IllegalArgumentException if the dtype or the length is none of these
     */
    public PackedPositionTransform(DType outType, long length) {
        this.outType = Arguments.oneOf("position and document ids", outType, DType.I32, DType.I64);
        words[LENGTH] = Arguments.atLeast(1, "length", length);
        words[OUT_TYPE] = RawMemory.word(outType);
    }

    /**
     * Enqueues the transform.
     *
     * @param stream where
     * @param cuSeqlens address of the bounds
     * @param cuCount N
     * @param batch B
     * @param positionIds address of {@code position_ids}, or 0 to write none
     * @param documentIds address of {@code document_ids}, or 0 to write none
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · L exceeds 2^31 - 1
     */
    public synchronized void enqueue(
            DeviceStream stream, long cuSeqlens, long cuCount, long batch, long positionIds, long documentIds) {
        long count = Arguments.count31("tokens", batch, words[LENGTH]);
        if (count == 0) {
            return;
        }
        words[CU_SEQLENS] = Arguments.address("cu_seqlens", cuSeqlens, Integer.BYTES);
        words[CU_COUNT] = Arguments.atLeast(0, "cu_seqlens", cuCount);
        words[BATCH] = batch;
        words[POSITION_IDS] = Arguments.optional("position_ids", positionIds, outType.byteSize());
        words[DOCUMENT_IDS] = Arguments.optional("document_ids", documentIds, outType.byteSize());
        stream.launch(KERNEL, Kernel.blocksForItems(count), words);
    }

    private static void run(long[] w) {
        DType outType = RawMemory.dtype(w[OUT_TYPE]);
        for (long row = 0; row < w[BATCH]; row++) {
            long first = row * w[LENGTH];
            long bound = CuSeqlens.notAbove(w[CU_SEQLENS], w[CU_COUNT], first);
            long start = first;
            long document = 0;
            for (long i = first; i < first + w[LENGTH]; i++) {
                while (bound < w[CU_COUNT] && CuSeqlens.at(w[CU_SEQLENS], bound) <= i) {
                    start = i;
                    document++;
                    bound++;
                }
                if (w[POSITION_IDS] != 0) {
                    RawMemory.setInteger(outType, w[POSITION_IDS], i, i - start);
                }
                if (w[DOCUMENT_IDS] != 0) {
                    RawMemory.setInteger(outType, w[DOCUMENT_IDS], i, document);
                }
            }
        }
    }
}
