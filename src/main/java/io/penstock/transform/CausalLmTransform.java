package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;

/**
 * Windows of tokens, as {@code CausalLm.narrow()} collates them, to what a causal language model trains on.
 *
 * <pre>
 *   tokens      [B, L + 1]  any integer dtype
 *   input_ids   [B, L]      i32 or i64: input_ids[b, t] = tokens[b, t]
 *   labels      [B, L]      i32 or i64: labels[b, t] = tokens[b, t + 1]
 * </pre>
 *
 * <p>A label that belongs to another document than its input is the ignore index, {@value #DEFAULT_IGNORE_INDEX} unless
 * set, if document bounds are given: by a separator, by {@code cu_seqlens}, or both. A token that the output dtype
 * cannot hold loses its upper bits.
 */
public final class CausalLmTransform {
    /** What PyTorch's cross entropy ignores. */
    public static final long DEFAULT_IGNORE_INDEX = -100;

    private static final int INPUT_IDS = TokenRows.WORDS;
    private static final int LABELS = TokenRows.WORDS + 1;
    private static final int OUT_TYPE = TokenRows.WORDS + 2;
    private static final int CU_SEQLENS = TokenRows.WORDS + 3;
    private static final int CU_COUNT = TokenRows.WORDS + 4;
    private static final int IGNORE_INDEX = TokenRows.WORDS + 5;

    private static final Kernel KERNEL =
            new Kernel("penstock_causal_lm", TokenRows.WORDS + 6, CausalLmTransform::run);

    private final long[] words = new long[KERNEL.words()];
    private final DType outType;
    private final long length;

    /**
     * Labels that pay no attention to documents.
     *
     * @param tokenType the tokens' dtype, any integer one
     * @param outType that of ids and labels, {@link DType#I32} or {@link DType#I64}
     * @param length L, the inputs in a window, at least 1
     * @throws IllegalArgumentException if a dtype or the length is none of these
     */
    public CausalLmTransform(DType tokenType, DType outType, long length) {
        this(tokenType, outType, length, null, DEFAULT_IGNORE_INDEX);
    }

    /**
     * Labels that end with their document.
     *
     * @param tokenType the tokens' dtype, any integer one
     * @param outType that of ids and labels, {@link DType#I32} or {@link DType#I64}
     * @param length L, the inputs in a window, at least 1
     * @param separator what tells documents apart, or null if tokens do not
     * @param ignoreIndex the label where the next token belongs to another document
     * @throws IllegalArgumentException if a dtype or the length is none of these
     */
    public CausalLmTransform(
            DType tokenType, DType outType, long length, DocumentSeparator separator, long ignoreIndex) {
        this.outType = Arguments.oneOf("ids and labels", outType, DType.I32, DType.I64);
        this.length = length;
        TokenRows.describe(words, tokenType, length, length + 1, separator);
        words[OUT_TYPE] = RawMemory.word(outType);
        words[IGNORE_INDEX] = ignoreIndex;
    }

    /**
     * Enqueues the transform.
     *
     * @param stream where
     * @param tokens address of the windows
     * @param batch B
     * @param inputIds address of the inputs to write, or 0 to write none
     * @param labels address of the labels to write, or 0 to write none
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public void enqueue(DeviceStream stream, long tokens, long batch, long inputIds, long labels) {
        enqueue(stream, tokens, batch, inputIds, labels, 0, 0);
    }

    /**
     * Enqueues the transform with document bounds beside the tokens.
     *
     * @param stream where
     * @param tokens address of the windows
     * @param batch B
     * @param inputIds address of the inputs to write, or 0 to write none
     * @param labels address of the labels to write, or 0 to write none
     * @param cuSeqlens address of ascending i32 positions in the B · L inputs, row by row, at which documents begin;
     *     one at a row's start changes nothing, for what comes before it is not in the row
     * @param cuCount how many positions there are
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · L exceeds 2^31 - 1
     */
    public synchronized void enqueue(DeviceStream stream, long tokens, long batch, long inputIds, long labels,
            long cuSeqlens, long cuCount) {
        long count = cuSeqlens == 0 ? Arguments.count("inputs", batch, length)
                : Arguments.count31("inputs", batch, length);
        if (count == 0) {
            return;
        }
        TokenRows.setBatch(words, tokens, batch);
        words[INPUT_IDS] = Arguments.optional("input_ids", inputIds, outType.byteSize());
        words[LABELS] = Arguments.optional("labels", labels, outType.byteSize());
        words[CU_SEQLENS] = Arguments.optional("cu_seqlens", cuSeqlens, Integer.BYTES);
        words[CU_COUNT] = Arguments.atLeast(0, "cu_seqlens", cuCount);
        stream.launch(KERNEL, Kernel.blocksForItems(count), words);
    }

    private static void run(long[] w) {
        DType tokenType = RawMemory.dtype(w[TokenRows.TOKEN_TYPE]);
        DType outType = RawMemory.dtype(w[OUT_TYPE]);
        long length = w[TokenRows.LENGTH];
        for (long row = 0; row < w[TokenRows.BATCH]; row++) {
            long tokens = w[TokenRows.TOKENS] + row * w[TokenRows.STRIDE] * tokenType.byteSize();
            long target = row * length * outType.byteSize();
            if (w[INPUT_IDS] != 0) {
                RawMemory.convert(tokenType, tokens, outType, w[INPUT_IDS] + target, length);
            }
            if (w[LABELS] != 0) {
                RawMemory.convert(tokenType, tokens + tokenType.byteSize(), outType, w[LABELS] + target, length);
                ignoreOtherDocuments(w, row, outType, w[LABELS] + target);
            }
        }
    }

    private static void ignoreOtherDocuments(long[] w, long row, DType outType, long labels) {
        long length = w[TokenRows.LENGTH];
        if (TokenRows.haveSeparator(w)) {
            for (long t = 0; t < length; t++) {
                if (TokenRows.begins(w, row, t + 1)) {
                    RawMemory.setInteger(outType, labels, t, w[IGNORE_INDEX]);
                }
            }
        }
        if (w[CU_SEQLENS] != 0) {
            long first = row * length;
            for (long k = CuSeqlens.notAbove(w[CU_SEQLENS], w[CU_COUNT], first); k < w[CU_COUNT]; k++) {
                long start = CuSeqlens.at(w[CU_SEQLENS], k) - first;
                if (start >= length) {
                    break;
                }
                RawMemory.setInteger(outType, labels, start - 1, w[IGNORE_INDEX]);
            }
        }
    }
}
