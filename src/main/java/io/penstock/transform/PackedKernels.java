// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/** The kernels of {@link PackedTokens}, their arguments, and their twins. */
final class PackedKernels {
    private static final StructLayout LAYOUT = Word.struct("Packed", "tokens", "token_type", "batch", "length",
            "cu_seqlens", "cu_count", "lengths", "loss_bits", "input_ids", "labels", "position_ids", "document_ids",
            "padding_mask", "out_type", "ignore_index");
    static final Word TOKENS = Word.of(LAYOUT, "tokens");
    static final Word TOKEN_TYPE = Word.of(LAYOUT, "token_type");
    static final Word BATCH = Word.of(LAYOUT, "batch");
    static final Word LENGTH = Word.of(LAYOUT, "length");
    static final Word CU_SEQLENS = Word.of(LAYOUT, "cu_seqlens");
    static final Word CU_COUNT = Word.of(LAYOUT, "cu_count");
    static final Word LENGTHS = Word.of(LAYOUT, "lengths");
    static final Word LOSS_BITS = Word.of(LAYOUT, "loss_bits");
    static final Word INPUT_IDS = Word.of(LAYOUT, "input_ids");
    static final Word LABELS = Word.of(LAYOUT, "labels");
    static final Word POSITION_IDS = Word.of(LAYOUT, "position_ids");
    static final Word DOCUMENT_IDS = Word.of(LAYOUT, "document_ids");
    static final Word PADDING_MASK = Word.of(LAYOUT, "padding_mask");
    static final Word OUT_TYPE = Word.of(LAYOUT, "out_type");
    static final Word IGNORE_INDEX = Word.of(LAYOUT, "ignore_index");

    private static final StructLayout ATTENTION_LAYOUT = Word.struct("PackedAttention",
            "batch", "length", "cu_seqlens", "cu_count", "lengths", "mask");
    static final Word MASK_BATCH = Word.of(ATTENTION_LAYOUT, "batch");
    static final Word MASK_LENGTH = Word.of(ATTENTION_LAYOUT, "length");
    static final Word MASK_CU_SEQLENS = Word.of(ATTENTION_LAYOUT, "cu_seqlens");
    static final Word MASK_CU_COUNT = Word.of(ATTENTION_LAYOUT, "cu_count");
    static final Word MASK_LENGTHS = Word.of(ATTENTION_LAYOUT, "lengths");
    static final Word MASK = Word.of(ATTENTION_LAYOUT, "mask");

    static final Kernel PACKED = new Kernel("penstock_packed", LAYOUT, PackedKernels::expand);
    static final Kernel ATTENTION =
            new Kernel("penstock_packed_attention", ATTENTION_LAYOUT, PackedKernels::attend);

    private static void expand(MemorySegment w) {
        long length = LENGTH.get(w);
        long bounds = CU_SEQLENS.get(w);
        long count = CU_COUNT.get(w);
        for (long row = 0; row < BATCH.get(w); row++) {
            long first = row * length;
            long used = CuSeqlens.at(LENGTHS.get(w), row);
            long bound = CuSeqlens.notAbove(bounds, count, first);
            long start = first;
            long sequence = 1;
            for (long i = first; i < first + length; i++) {
                for (; bound < count && CuSeqlens.at(bounds, bound) <= i; bound++) {
                    start = i;
                    sequence++;
                }
                boolean isLast = bound < count && CuSeqlens.at(bounds, bound) <= i + 1;
                boolean isTrained = i + 1 < first + used && !isLast && isTrained(w, row, i + 1 - first);
                write(w, i, isTrained, i - start, i < first + used ? sequence : 0);
            }
        }
    }

    private static boolean isTrained(MemorySegment w, long row, long t) {
        long bits = LOSS_BITS.get(w);
        return bits == 0
                || (RawMemory.integer(DType.U8, bits + row * ((LENGTH.get(w) + 7) / 8), t >> 3) >> (t & 7) & 1) != 0;
    }

    private static void write(MemorySegment w, long i, boolean isTrained, long position, long sequence) {
        DType from = TOKEN_TYPE.dtype(w);
        DType to = OUT_TYPE.dtype(w);
        if (INPUT_IDS.get(w) != 0) {
            RawMemory.setInteger(to, INPUT_IDS.get(w), i, RawMemory.integer(from, TOKENS.get(w), i));
        }
        if (LABELS.get(w) != 0) {
            RawMemory.setInteger(to, LABELS.get(w), i,
                    isTrained ? RawMemory.integer(from, TOKENS.get(w), i + 1) : IGNORE_INDEX.get(w));
        }
        if (POSITION_IDS.get(w) != 0) {
            RawMemory.setInteger(to, POSITION_IDS.get(w), i, position);
        }
        if (DOCUMENT_IDS.get(w) != 0) {
            RawMemory.setInteger(to, DOCUMENT_IDS.get(w), i, sequence);
        }
        if (PADDING_MASK.get(w) != 0) {
            RawMemory.setInteger(DType.U8, PADDING_MASK.get(w), i, sequence == 0 ? 0 : 1);
        }
    }

    private static void attend(MemorySegment w) {
        long length = MASK_LENGTH.get(w);
        long bounds = MASK_CU_SEQLENS.get(w);
        for (long row = 0; row < MASK_BATCH.get(w); row++) {
            long used = CuSeqlens.at(MASK_LENGTHS.get(w), row);
            for (long query = 0; query < length; query++) {
                long i = row * length + query;
                long before = CuSeqlens.notAbove(bounds, MASK_CU_COUNT.get(w), i);
                long start = before == 0 ? 0 : CuSeqlens.at(bounds, before - 1) - row * length;
                for (long key = 0; key < length; key++) {
                    boolean isSeen = query < used && start <= key && key <= query;
                    RawMemory.setInteger(DType.U8, MASK.get(w), i * length + key, isSeen ? 1 : 0);
                }
            }
        }
    }

    private PackedKernels() {
    }
}
