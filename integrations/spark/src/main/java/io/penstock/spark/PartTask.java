// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.PartNumber;
import io.penstock.format.manifest.PartWriter;
import io.penstock.format.manifest.TokenOrigin;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;

/**
 * Writes the rows of a partition as a part, under a name that no other attempt has, and returns what it is. The rows
 * have one column: a document's UTF-8, or its tokens.
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

    /**
     * What becomes of a document.
     *
     * @param isTokens whether documents are tokens already
     * @param appendEndOfText whether each gets the token that ends a document
     * @param minTokens the shortest document, in tokens without that one
     * @param maxTokens the longest document
     */
    record Options(boolean isTokens, boolean appendEndOfText, long minTokens, long maxTokens) implements Serializable {
    }

    @Override
    public Iterator<PartResult> call(Integer part, Iterator<InternalRow> rows) throws IOException {
        TokenizerSource source = tokenizer.value();
        Tokenizer shared = source.tokenizer();
        DType dtype = MegatronWriter.dtypeFor(shared.vocabularySize());
        TokenOrigin origin = new TokenOrigin(source.name(), shared.vocabularySha256());
        PartNumber number = new PartNumber(part, parts, job);
        PartResult result = folder.write(PartsFolder.attempt(part, run), path -> {
            try (PartWriter writer = PartWriter.create(path, dtype, origin, number, IfExists.FAIL)) {
                long filtered = options.isTokens ? copy(part, rows, shared, writer.documents())
                        : encode(part, rows, shared, writer.documents());
                return new PartResult(writer.commit(Progress.NONE).toJson(), filtered);
            }
        });
        return List.of(result).iterator();
    }

    private long encode(int part, Iterator<InternalRow> rows, Tokenizer shared, MegatronPart documents)
            throws IOException {
        TokenBuffer ids = new TokenBuffer();
        long filtered = 0;
        for (long number = 0; rows.hasNext(); number++) {
            InternalRow row = rows.next();
            requireDocument(row, part, number);
            ids.clear();
            shared.encode(MemorySegment.ofArray(row.getBinary(0)), SpecialText.ORDINARY, ids);
            if (isWanted(ids.size())) {
                if (options.appendEndOfText) {
                    ids.append(shared.endOfText());
                }
                documents.append(ids.toArray(), 0, ids.size());
                documents.endDocument();
            } else {
                filtered++;
            }
        }
        return filtered;
    }

    private long copy(int part, Iterator<InternalRow> rows, Tokenizer shared, MegatronPart documents)
            throws IOException {
        long[] endOfText = {shared.endOfText()};
        long filtered = 0;
        for (long number = 0; rows.hasNext(); number++) {
            InternalRow row = rows.next();
            requireDocument(row, part, number);
            long[] tokens = tokens(row.getArray(0), shared.vocabularySize(), part, number);
            if (isWanted(tokens.length)) {
                documents.append(tokens, 0, tokens.length);
                if (options.appendEndOfText) {
                    documents.append(endOfText, 0, 1);
                }
                documents.endDocument();
            } else {
                filtered++;
            }
        }
        return filtered;
    }

    private boolean isWanted(long tokens) {
        return tokens >= options.minTokens && tokens <= options.maxTokens;
    }

    private static void requireDocument(InternalRow row, int part, long number) {
        if (row.isNullAt(0)) {
            throw new IllegalArgumentException("row " + number + " of partition " + part
                    + ": found null, expected a document; filter such rows out");
        }
    }

    private static long[] tokens(ArrayData array, int vocabularySize, int part, long number) {
        for (int i = 0; i < array.numElements(); i++) {
            if (array.isNullAt(i) || array.getLong(i) < 0 || array.getLong(i) >= vocabularySize) {
                throw new IllegalArgumentException("row " + number + " of partition " + part + ", token " + i
                        + ": found " + (array.isNullAt(i) ? "null" : array.getLong(i)) + ", expected 0 to "
                        + (vocabularySize - 1) + ", as the tokenizer has them");
            }
        }
        return array.toLongArray();
    }
}
