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
 * Finds the documents packed in rows of tokens: for position embeddings that restart per document, and for attention
 * within documents. A document starts at a row's first token and wherever the separator says so.
 *
 * <pre>
 *   tokens         [B, S]      any integer dtype; the first L tokens of each row are read, L &lt;= S
 *   position_ids   [B, L]      i32 or i64: a token's distance from the start of its document
 *   document_ids   [B, L]      i32 or i64: number of documents before the token's in its row
 *   row_documents  [B, 2]      i32: number of documents in the row, and tokens in the longest
 *   cu_seqlens     [C + 1]     i32: starts of all documents in the B · L tokens, row by row, then B · L
 *   totals         [2]         i32: number of documents in the batch, and tokens in the longest
 * </pre>
 *
 * <p>{@code cu_seqlens} fits flash-attention's variable-length kernels. Their document count is a shape, which the host
 * must know but only the device finds. So the caller sets a capacity C, and unused entries are B · L: empty documents,
 * which those kernels accept. C = B · L always suffices. With more than C documents, the last one in {@code cu_seqlens}
 * extends to the end; {@code totals} has the true count.
 */
public final class DocumentTransform {
    private static final StructLayout LAYOUT =
            TokenRows.struct("Documents", "position_ids", "document_ids", "out_type", "row_documents");
    private static final Word POSITION_IDS = Word.of(LAYOUT, "position_ids");
    private static final Word DOCUMENT_IDS = Word.of(LAYOUT, "document_ids");
    private static final Word OUT_TYPE = Word.of(LAYOUT, "out_type");
    private static final Word ROW_DOCUMENTS = Word.of(LAYOUT, "row_documents");

    private static final StructLayout START_LAYOUT =
            TokenRows.struct("DocumentStarts", "row_documents", "cu_seqlens", "capacity", "totals");
    private static final Word COUNTED = Word.of(START_LAYOUT, "row_documents");
    private static final Word CU_SEQLENS = Word.of(START_LAYOUT, "cu_seqlens");
    private static final Word CAPACITY = Word.of(START_LAYOUT, "capacity");
    private static final Word TOTALS = Word.of(START_LAYOUT, "totals");

    static final Kernel DOCUMENTS = new Kernel("penstock_documents", LAYOUT, DocumentTransform::findDocuments);
    static final Kernel STARTS = new Kernel("penstock_document_starts", START_LAYOUT, DocumentTransform::listStarts);

    private final MemorySegment arguments = DOCUMENTS.newArguments();
    private final MemorySegment startArguments = STARTS.newArguments();
    private final DType outType;
    private final long length;

    /**
     * Creates the transform for rows of a fixed length.
     *
     * @param tokenType the tokens' dtype, any integer dtype
     * @param outType the dtype of position and document ids, {@link DType#I32} or {@link DType#I64}
     * @param length L, at least 1
     * @param rowTokens S, from one row's start to the next: L + 1 for the inputs of windows with labels
     * @param separator the token that separates documents, or null if each row is one document
     * @throws IllegalArgumentException if a dtype is not supported or a length is too small
     */
    public DocumentTransform(
            DType tokenType, DType outType, long length, long rowTokens, @Nullable DocumentSeparator separator) {
        this.outType = Arguments.oneOf("position and document ids", outType, DType.I32, DType.I64);
        this.length = length;
        Arguments.atLeast(length, "tokens per row", rowTokens);
        TokenRows.describe(arguments, tokenType, length, rowTokens, separator);
        TokenRows.describe(startArguments, tokenType, length, rowTokens, separator);
        OUT_TYPE.set(arguments, outType);
    }

    /**
     * Enqueues the per-row outputs. An output whose address is 0 is not written.
     *
     * @param stream the stream
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
        TokenRows.setBatch(arguments, tokens, batch);
        POSITION_IDS.set(arguments, Arguments.optional("position_ids", positionIds, outType.byteSize()));
        DOCUMENT_IDS.set(arguments, Arguments.optional("document_ids", documentIds, outType.byteSize()));
        ROW_DOCUMENTS.set(arguments, Arguments.optional("row_documents", rowDocuments, Integer.BYTES));
        stream.launch(DOCUMENTS, Kernel.blocks(batch), arguments);
    }

    /**
     * Enqueues the list of all documents, after {@link #enqueue} of the same tokens on the same stream.
     *
     * @param stream the stream
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
        TokenRows.setBatch(startArguments, tokens, batch);
        COUNTED.set(startArguments, Arguments.address("row_documents", rowDocuments, Integer.BYTES));
        CU_SEQLENS.set(startArguments, Arguments.address("cu_seqlens", cuSeqlens, Integer.BYTES));
        CAPACITY.set(startArguments, Arguments.atLeast(1, "capacity", capacity));
        TOTALS.set(startArguments, Arguments.optional("totals", totals, Integer.BYTES));
        stream.launch(STARTS, Kernel.blocks(batch), startArguments);
    }

    private static void findDocuments(MemorySegment w) {
        DType type = TokenRows.TOKEN_TYPE.dtype(w);
        DType outType = OUT_TYPE.dtype(w);
        long batch = TokenRows.BATCH.get(w);
        long length = TokenRows.LENGTH.get(w);
        long mode = TokenRows.SEPARATOR_MODE.get(w);
        long separator = TokenRows.SEPARATOR.get(w);
        long positionIds = POSITION_IDS.get(w);
        long documentIds = DOCUMENT_IDS.get(w);
        long rowDocuments = ROW_DOCUMENTS.get(w);
        for (long row = 0; row < batch; row++) {
            long tokens = TokenRows.row(w, row);
            long start = 0;
            long document = 0;
            long longest = 0;
            for (long t = 0; t < length; t++) {
                if (TokenRows.begins(type, tokens, mode, separator, t)) {
                    longest = Math.max(longest, t - start);
                    start = t;
                    document++;
                }
                if (positionIds != 0) {
                    RawMemory.setInteger(outType, positionIds, row * length + t, t - start);
                }
                if (documentIds != 0) {
                    RawMemory.setInteger(outType, documentIds, row * length + t, document);
                }
            }
            if (rowDocuments != 0) {
                CuSeqlens.set(rowDocuments, 2 * row, document + 1);
                CuSeqlens.set(rowDocuments, 2 * row + 1, Math.max(longest, length - start));
            }
        }
    }

    private static void listStarts(MemorySegment w) {
        DType type = TokenRows.TOKEN_TYPE.dtype(w);
        long batch = TokenRows.BATCH.get(w);
        long length = TokenRows.LENGTH.get(w);
        long mode = TokenRows.SEPARATOR_MODE.get(w);
        long separator = TokenRows.SEPARATOR.get(w);
        long cuSeqlens = CU_SEQLENS.get(w);
        long capacity = CAPACITY.get(w);
        long document = 0;
        int longest = 0;
        for (long row = 0; row < batch; row++) {
            long tokens = TokenRows.row(w, row);
            for (long t = 0; t < length; t++) {
                if (t == 0 || TokenRows.begins(type, tokens, mode, separator, t)) {
                    if (document < capacity) {
                        CuSeqlens.set(cuSeqlens, document, row * length + t);
                    }
                    document++;
                }
            }
            longest = Math.max(longest, CuSeqlens.at(COUNTED.get(w), 2 * row + 1));
        }
        for (long k = Math.min(document, capacity); k <= capacity; k++) {
            CuSeqlens.set(cuSeqlens, k, batch * length);
        }
        if (TOTALS.get(w) != 0) {
            CuSeqlens.set(TOTALS.get(w), 0, document);
            CuSeqlens.set(TOTALS.get(w), 1, longest);
        }
    }
}
