package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;

/**
 * Where documents lie in rows of tokens that were packed one after another, read from the tokens themselves: for
 * position embeddings that start anew, and for attention that keeps within a document. A row's first token begins a
 * document, and so does each that the separator says.
 *
 * <pre>
 *   tokens         [B, S]      any integer dtype; of each row the first L tokens are looked at, L &lt;= S
 *   position_ids   [B, L]      i32 or i64: how far a token is from the start of its document
 *   document_ids   [B, L]      i32 or i64: how many documents come before the token's in its row
 *   row_documents  [B, 2]      i32: how many documents the row has, and how many tokens the longest
 *   cu_seqlens     [C + 1]     i32: starts of all documents in the B · L tokens taken row by row, then B · L
 *   totals         [2]         i32: how many documents the batch has, and how many tokens the longest
 * </pre>
 *
 * <p>{@code cu_seqlens} is as flash-attention's variable-length kernels take it. Their number of documents is a shape,
 * which the host must know and the device finds; so the caller fixes a capacity C, and what is left of it is filled
 * with B · L: empty documents, which those kernels accept. B · L is always enough. With more documents than C, the last
 * one in {@code cu_seqlens} extends to the end, and {@code totals} tells.
 */
public final class DocumentTransform {
    private static final int POSITION_IDS = TokenRows.WORDS;
    private static final int DOCUMENT_IDS = TokenRows.WORDS + 1;
    private static final int OUT_TYPE = TokenRows.WORDS + 2;
    private static final int ROW_DOCUMENTS = TokenRows.WORDS + 3;

    private static final int COUNTED = TokenRows.WORDS;
    private static final int CU_SEQLENS = TokenRows.WORDS + 1;
    private static final int CAPACITY = TokenRows.WORDS + 2;
    private static final int TOTALS = TokenRows.WORDS + 3;

    private static final Kernel DOCUMENTS =
            new Kernel("penstock_documents", TokenRows.WORDS + 4, DocumentTransform::findDocuments);
    private static final Kernel STARTS =
            new Kernel("penstock_document_starts", TokenRows.WORDS + 4, DocumentTransform::listStarts);

    private final long[] words = new long[DOCUMENTS.words()];
    private final long[] startWords = new long[STARTS.words()];
    private final DType outType;
    private final long length;

    /**
     * Documents in rows of a fixed length.
     *
     * @param tokenType the tokens' dtype, any integer one
     * @param outType that of position and document ids, {@link DType#I32} or {@link DType#I64}
     * @param length L, at least 1
     * @param rowTokens S, from one row's start to the next: L + 1 for the inputs of windows with labels
     * @param separator what tells documents apart
     * @throws IllegalArgumentException if a dtype or a length is none of these
     */
    public DocumentTransform(
            DType tokenType, DType outType, long length, long rowTokens, DocumentSeparator separator) {
        this.outType = Arguments.oneOf("position and document ids", outType, DType.I32, DType.I64);
        this.length = length;
        Arguments.atLeast(length, "tokens a row", rowTokens);
        if (separator == null) {
            throw new NullPointerException("separator");
        }
        TokenRows.describe(words, tokenType, length, rowTokens, separator);
        TokenRows.describe(startWords, tokenType, length, rowTokens, separator);
        words[OUT_TYPE] = RawMemory.word(outType);
    }

    /**
     * Enqueues what is found row by row. Each output may be 0, and is then not written.
     *
     * @param stream where
     * @param tokens address of the rows
     * @param batch B
     * @param positionIds address of {@code position_ids}, or 0
     * @param documentIds address of {@code document_ids}, or 0
     * @param rowDocuments address of {@code row_documents}, or 0
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · L exceeds 2^31 - 1
     */
    public synchronized void enqueue(
            DeviceStream stream, long tokens, long batch, long positionIds, long documentIds, long rowDocuments) {
        if (Arguments.count31("tokens", batch, length) == 0) {
            return;
        }
        TokenRows.setBatch(words, tokens, batch);
        words[POSITION_IDS] = Arguments.optional("position_ids", positionIds, outType.byteSize());
        words[DOCUMENT_IDS] = Arguments.optional("document_ids", documentIds, outType.byteSize());
        words[ROW_DOCUMENTS] = Arguments.optional("row_documents", rowDocuments, Integer.BYTES);
        stream.launch(DOCUMENTS, Kernel.blocks(batch), words);
    }

    /**
     * Enqueues the list of all documents, behind {@link #enqueue} of the same tokens on the same stream.
     *
     * @param stream where
     * @param tokens address of the rows
     * @param batch B, at least 1
     * @param rowDocuments address of {@code row_documents}, as {@link #enqueue} writes them
     * @param cuSeqlens address of {@code cu_seqlens}
     * @param capacity C, at least 1
     * @param totals address of {@code totals}, or 0
     * @throws IllegalArgumentException if an address is not a multiple of its element size, or B · L exceeds 2^31 - 1
     */
    public synchronized void enqueueCuSeqlens(DeviceStream stream, long tokens, long batch, long rowDocuments,
            long cuSeqlens, long capacity, long totals) {
        Arguments.atLeast(1, "batch", batch);
        Arguments.count31("tokens", batch, length);
        TokenRows.setBatch(startWords, tokens, batch);
        startWords[COUNTED] = Arguments.address("row_documents", rowDocuments, Integer.BYTES);
        startWords[CU_SEQLENS] = Arguments.address("cu_seqlens", cuSeqlens, Integer.BYTES);
        startWords[CAPACITY] = Arguments.atLeast(1, "capacity", capacity);
        startWords[TOTALS] = Arguments.optional("totals", totals, Integer.BYTES);
        stream.launch(STARTS, Kernel.blocks(batch), startWords);
    }

    private static void findDocuments(long[] w) {
        DType outType = RawMemory.dtype(w[OUT_TYPE]);
        long length = w[TokenRows.LENGTH];
        for (long row = 0; row < w[TokenRows.BATCH]; row++) {
            long start = 0;
            long document = 0;
            long longest = 0;
            for (long t = 0; t < length; t++) {
                if (TokenRows.begins(w, row, t)) {
                    longest = Math.max(longest, t - start);
                    start = t;
                    document++;
                }
                if (w[POSITION_IDS] != 0) {
                    RawMemory.setInteger(outType, w[POSITION_IDS], row * length + t, t - start);
                }
                if (w[DOCUMENT_IDS] != 0) {
                    RawMemory.setInteger(outType, w[DOCUMENT_IDS], row * length + t, document);
                }
            }
            if (w[ROW_DOCUMENTS] != 0) {
                CuSeqlens.set(w[ROW_DOCUMENTS], 2 * row, document + 1);
                CuSeqlens.set(w[ROW_DOCUMENTS], 2 * row + 1, Math.max(longest, length - start));
            }
        }
    }

    private static void listStarts(long[] w) {
        long length = w[TokenRows.LENGTH];
        long document = 0;
        int longest = 0;
        for (long row = 0; row < w[TokenRows.BATCH]; row++) {
            for (long t = 0; t < length; t++) {
                if (t == 0 || TokenRows.begins(w, row, t)) {
                    if (document < w[CAPACITY]) {
                        CuSeqlens.set(w[CU_SEQLENS], document, row * length + t);
                    }
                    document++;
                }
            }
            longest = Math.max(longest, CuSeqlens.at(w[COUNTED], 2 * row + 1));
        }
        for (long k = Math.min(document, w[CAPACITY]); k <= w[CAPACITY]; k++) {
            CuSeqlens.set(w[CU_SEQLENS], k, w[TokenRows.BATCH] * length);
        }
        if (w[TOTALS] != 0) {
            CuSeqlens.set(w[TOTALS], 0, document);
            CuSeqlens.set(w[TOTALS], 1, longest);
        }
    }
}
