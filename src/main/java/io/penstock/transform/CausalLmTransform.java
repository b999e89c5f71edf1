// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import org.jspecify.annotations.Nullable;

/**
 * Converts token windows, as {@code CausalLm.narrow()} collates them, to inputs and labels of a causal language model.
 *
 * <pre>
 *   tokens      [B, L + 1]  any integer dtype
 *   input_ids   [B, L]      i32 or i64: input_ids[b, t] = tokens[b, t]
 *   labels      [B, L]      i32 or i64: labels[b, t] = tokens[b, t + 1]
 * </pre>
 *
 * <p>If document bounds are given, by a separator, by {@code cu_seqlens} or both, a label that belongs to another
 * document than its input is the ignore index, {@value #DEFAULT_IGNORE_INDEX} by default. A token too large for the
 * output dtype loses its upper bits.
 */
public final class CausalLmTransform {
    /** The default {@code ignore_index} of PyTorch's cross entropy. */
    public static final long DEFAULT_IGNORE_INDEX = -100;

    private static final StructLayout LAYOUT = TokenRows.struct("CausalLm",
            "input_ids", "labels", "out_type", "cu_seqlens", "cu_count", "ignore_index");
    private static final Word INPUT_IDS = Word.of(LAYOUT, "input_ids");
    private static final Word LABELS = Word.of(LAYOUT, "labels");
    private static final Word OUT_TYPE = Word.of(LAYOUT, "out_type");
    private static final Word CU_SEQLENS = Word.of(LAYOUT, "cu_seqlens");
    private static final Word CU_COUNT = Word.of(LAYOUT, "cu_count");
    private static final Word IGNORE_INDEX = Word.of(LAYOUT, "ignore_index");

    static final Kernel KERNEL = new Kernel("penstock_causal_lm", LAYOUT, CausalLmTransform::run);

    private final MemorySegment arguments = KERNEL.newArguments();
    private final DType outType;
    private final long length;

    /**
     * Creates a transform without document bounds in the tokens.
     *
     * @param tokenType the tokens' dtype, any integer dtype
     * @param outType the dtype of inputs and labels, {@link DType#I32} or {@link DType#I64}
     * @param length L, the inputs per window, at least 1
     * @throws IllegalArgumentException if a dtype is not supported or the length is below 1
     */
    public CausalLmTransform(DType tokenType, DType outType, long length) {
        this(tokenType, outType, length, null, DEFAULT_IGNORE_INDEX);
    }

    /**
     * Creates a transform whose labels end with their document.
     *
     * @param tokenType the tokens' dtype, any integer dtype
     * @param outType the dtype of inputs and labels, {@link DType#I32} or {@link DType#I64}
     * @param length L, the inputs per window, at least 1
     * @param separator the token that separates documents, or null if there is none
     * @param ignoreIndex the label where the next token belongs to another document
     * @throws IllegalArgumentException if a dtype is not supported or the length is below 1
     */
    public CausalLmTransform(
            DType tokenType, DType outType, long length, @Nullable DocumentSeparator separator,
            long ignoreIndex) {
        this.outType = Arguments.oneOf("ids and labels", outType, DType.I32, DType.I64);
        this.length = length;
        TokenRows.describe(arguments, tokenType, length, length + 1, separator);
        OUT_TYPE.set(arguments, outType);
        IGNORE_INDEX.set(arguments, ignoreIndex);
    }

    /**
     * Enqueues the transform.
     *
     * @param stream the stream
     * @param tokens address of the windows
     * @param batch B
     * @param inputIds address of the inputs, written, or 0 for none
     * @param labels address of the labels, written, or 0 for none
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public void enqueue(DeviceStream stream, long tokens, long batch, long inputIds, long labels) {
        enqueue(stream, tokens, batch, inputIds, labels, 0, 0);
    }

    /**
     * Enqueues the transform with document bounds separate from the tokens.
     *
     * @param stream the stream
     * @param tokens address of the windows
     * @param batch B
     * @param inputIds address of the inputs, written, or 0 for none
     * @param labels address of the labels, written, or 0 for none
     * @param cuSeqlens address of ascending i32 positions of document starts in the B · L inputs, row by row; one at a
     *     row's start has no effect, because no label precedes it in the row
     * @param cuCount number of positions
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · L exceeds 2^31 - 1
     */
    public synchronized void enqueue(DeviceStream stream, long tokens, long batch, long inputIds, long labels,
            long cuSeqlens, long cuCount) {
        long count = cuSeqlens == 0 ? Arguments.count("inputs", batch, length)
                : Arguments.count31("inputs", batch, length);
        if (count == 0) {
            return;
        }
        TokenRows.setBatch(arguments, tokens, batch);
        INPUT_IDS.set(arguments, Arguments.optional("input_ids", inputIds, outType.byteSize()));
        LABELS.set(arguments, Arguments.optional("labels", labels, outType.byteSize()));
        CU_SEQLENS.set(arguments, Arguments.optional("cu_seqlens", cuSeqlens, Integer.BYTES));
        CU_COUNT.set(arguments, Arguments.atLeast(0, "cu_seqlens", cuCount));
        stream.launch(KERNEL, Kernel.blocksForItems(count), arguments);
    }

    private static void run(MemorySegment w) {
        DType tokenType = TokenRows.TOKEN_TYPE.dtype(w);
        DType outType = OUT_TYPE.dtype(w);
        long batch = TokenRows.BATCH.get(w);
        long length = TokenRows.LENGTH.get(w);
        long inputIds = INPUT_IDS.get(w);
        long labels = LABELS.get(w);
        for (long row = 0; row < batch; row++) {
            long source = TokenRows.row(w, row);
            long target = row * length * outType.byteSize();
            if (inputIds != 0) {
                RawMemory.convert(tokenType, source, outType, inputIds + target, length);
            }
            if (labels != 0) {
                RawMemory.convert(tokenType, source + tokenType.byteSize(), outType, labels + target, length);
                ignoreOtherDocuments(w, row, source, labels + target);
            }
        }
    }

    private static void ignoreOtherDocuments(MemorySegment w, long row, long source, long labels) {
        DType tokenType = TokenRows.TOKEN_TYPE.dtype(w);
        DType outType = OUT_TYPE.dtype(w);
        long length = TokenRows.LENGTH.get(w);
        long mode = TokenRows.SEPARATOR_MODE.get(w);
        long separator = TokenRows.SEPARATOR.get(w);
        long ignoreIndex = IGNORE_INDEX.get(w);
        for (long t = 0; t < length && mode != TokenRows.NONE; t++) {
            if (TokenRows.begins(tokenType, source, mode, separator, t + 1)) {
                RawMemory.setInteger(outType, labels, t, ignoreIndex);
            }
        }
        long bounds = CU_SEQLENS.get(w);
        if (bounds != 0) {
            long count = CU_COUNT.get(w);
            long first = row * length;
            for (long k = CuSeqlens.notAbove(bounds, count, first); k < count; k++) {
                long start = CuSeqlens.at(bounds, k) - first;
                if (start >= length) {
                    break;
                }
                RawMemory.setInteger(outType, labels, start - 1, ignoreIndex);
            }
        }
    }
}
