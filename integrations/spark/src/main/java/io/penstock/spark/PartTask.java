// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.ManifestPart.PartNumber;
import io.penstock.format.manifest.ManifestPart.TokenOrigin;
import io.penstock.format.manifest.PartWriter;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Writes the rows of a partition as a part, under a name that no other attempt has, and returns what it is. The rows
 * have one column, the documents.
 *
 * @param tokenizer the tokenizer, sent once to each executor
 * @param folder where parts are
 * @param run the run of the job
 * @param parts how many parts the job has
 * @param job the digest of what the parts have in common
 * @param options what becomes of a document
 */
record PartTask(Broadcast<TokenizerSource> tokenizer, PartsFolder folder, String run, int parts, String job,
        Options options) implements Function2<Integer, Iterator<InternalRow>, Iterator<PartResult>> {

    /** What rows have of a document. */
    enum Form {
        /** Its UTF-8. */
        TEXT,
        /** An array of its tokens. */
        IDS,
        /** The bytes of its tokens, as {@link DocumentEncoder} makes them. */
        STORED
    }

    /**
     * What becomes of a document.
     *
     * @param form what rows have of it
     * @param appendEndOfText whether each gets the token that ends a document
     * @param minTokens the shortest document, in tokens without that one
     * @param maxTokens the longest document
     */
    record Options(Form form, boolean appendEndOfText, long minTokens, long maxTokens) implements Serializable {
    }

    @Override
    public Iterator<PartResult> call(Integer part, Iterator<InternalRow> rows) throws IOException {
        TokenizerSource source = tokenizer.value();
        Tokenizer shared = source.tokenizer();
        DType dtype = source.dtype();
        TokenOrigin origin = new TokenOrigin(source.name(), source.vocabularySha256());
        PartNumber number = new PartNumber(part, parts, job);
        PartResult result = folder.write(PartsFolder.attempt(part, run), path -> {
            try (PartWriter writer = PartWriter.create(path, dtype, origin, number, IfExists.FAIL)) {
                writer.content(source.content());
                long filtered = write(part, rows, new DocumentTokens(source), shared.endOfText(), writer.documents());
                return new PartResult(writer.commit(Progress.NONE).toJson(), filtered);
            }
        });
        return List.of(result).iterator();
    }

    /** Writes the documents that are wanted; returns how many are not. */
    private long write(int part, Iterator<InternalRow> rows, DocumentTokens document, int endOfText,
            MegatronPart documents) throws IOException {
        int[] end = {endOfText};
        long filtered = 0;
        for (long number = 0; rows.hasNext(); number++) {
            InternalRow row = rows.next();
            try {
                read(row, document);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("row " + number + " of partition " + part + ": " + e.getMessage(),
                        e);
            }
            if (isWanted(document.count()) && !document.isLeftOut()) {
                documents.append(MemorySegment.ofArray(document.stored()), 0, document.count());
                if (options.appendEndOfText) {
                    documents.append(end, 0, 1);
                }
                documents.endDocument();
            } else {
                filtered++;
            }
        }
        return filtered;
    }

    private void read(InternalRow row, DocumentTokens document) {
        if (row.isNullAt(0)) {
            throw new IllegalArgumentException("found null, expected a document; filter such rows out");
        }
        switch (options.form) {
            case TEXT -> document.encode(row.getBinary(0));
            case IDS -> document.take(row.getArray(0));
            case STORED -> document.takeStored(row.getBinary(0));
        }
    }

    private boolean isWanted(long tokens) {
        return tokens >= options.minTokens && tokens <= options.maxTokens;
    }
}
