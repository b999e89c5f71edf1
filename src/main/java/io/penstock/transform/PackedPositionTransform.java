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
 * Computes position and document ids of packed rows from document bounds stored separately from the tokens.
 *
 * <pre>
 *   cu_seqlens     [N]       i32, ascending: document starts in the B · L tokens, row by row
 *   position_ids   [B, L]    i32 or i64: a token's distance from the start of its document, or of its row if later
 *   document_ids   [B, L]    i32 or i64: number of document starts in the row after its first token, up to this one
 * </pre>
 *
 * <p>A last entry B · L, as in flash-attention, has no effect. {@link CumulativeLengthTransform} computes
 * {@code cu_seqlens} from lengths.
 */
public final class PackedPositionTransform {
    private static final StructLayout LAYOUT = Word.struct("PackedPositions",
            "cu_seqlens", "cu_count", "batch", "length", "position_ids", "document_ids", "out_type");
    private static final Word CU_SEQLENS = Word.of(LAYOUT, "cu_seqlens");
    private static final Word CU_COUNT = Word.of(LAYOUT, "cu_count");
    private static final Word BATCH = Word.of(LAYOUT, "batch");
    private static final Word LENGTH = Word.of(LAYOUT, "length");
    private static final Word POSITION_IDS = Word.of(LAYOUT, "position_ids");
    private static final Word DOCUMENT_IDS = Word.of(LAYOUT, "document_ids");
    private static final Word OUT_TYPE = Word.of(LAYOUT, "out_type");

    static final Kernel KERNEL = new Kernel("penstock_packed_positions", LAYOUT, PackedPositionTransform::run);

    private final MemorySegment arguments = KERNEL.newArguments();
    private final DType outType;

    /**
     * Creates the transform for rows of a fixed length.
     *
     * @param outType the ids' dtype, {@link DType#I32} or {@link DType#I64}
     * @param length L, at least 1
     * @throws IllegalArgumentException if the dtype is not supported or the length is below 1
     */
    public PackedPositionTransform(DType outType, long length) {
        this.outType = Arguments.oneOf("position and document ids", outType, DType.I32, DType.I64);
        LENGTH.set(arguments, Arguments.atLeast(1, "length", length));
        OUT_TYPE.set(arguments, outType);
    }

    /**
     * Enqueues the transform.
     *
     * @param stream the stream
     * @param cuSeqlens address of the bounds
     * @param cuCount N
     * @param batch B
     * @param positionIds address of {@code position_ids}, or 0 for none
     * @param documentIds address of {@code document_ids}, or 0 for none
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · L exceeds 2^31 - 1
     */
    public synchronized void enqueue(
            DeviceStream stream, long cuSeqlens, long cuCount, long batch, long positionIds, long documentIds) {
        long count = Arguments.count31("tokens", batch, LENGTH.get(arguments));
        if (count == 0) {
            return;
        }
        CU_SEQLENS.set(arguments, Arguments.address("cu_seqlens", cuSeqlens, Integer.BYTES));
        CU_COUNT.set(arguments, Arguments.atLeast(0, "cu_seqlens", cuCount));
        BATCH.set(arguments, batch);
        POSITION_IDS.set(arguments, Arguments.optional("position_ids", positionIds, outType.byteSize()));
        DOCUMENT_IDS.set(arguments, Arguments.optional("document_ids", documentIds, outType.byteSize()));
        stream.launch(KERNEL, Kernel.blocksForItems(count), arguments);
    }

    private static void run(MemorySegment w) {
        DType outType = OUT_TYPE.dtype(w);
        long length = LENGTH.get(w);
        long bounds = CU_SEQLENS.get(w);
        long count = CU_COUNT.get(w);
        long positionIds = POSITION_IDS.get(w);
        long documentIds = DOCUMENT_IDS.get(w);
        for (long row = 0; row < BATCH.get(w); row++) {
            long first = row * length;
            long bound = CuSeqlens.notAbove(bounds, count, first);
            long start = first;
            long document = 0;
            for (long i = first; i < first + length; i++) {
                while (bound < count && CuSeqlens.at(bounds, bound) <= i) {
                    start = i;
                    document++;
                    bound++;
                }
                if (positionIds != 0) {
                    RawMemory.setInteger(outType, positionIds, i, i - start);
                }
                if (documentIds != 0) {
                    RawMemory.setInteger(outType, documentIds, i, document);
                }
            }
        }
    }
}
