// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.memory.DType;
import io.penstock.tokenize.LineEncoder;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.lang.foreign.MemorySegment;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.jspecify.annotations.Nullable;

/** The tokens of one document after the other, as a store has them. For one thread at a time. */
final class DocumentTokens {

    private final Tokenizer tokenizer;
    private final @Nullable LineEncoder lines;
    private final DType dtype;
    private final TokenBuffer ids = new TokenBuffer();
    private byte[] stored = new byte[1 << 12];
    private int count;

    DocumentTokens(TokenizerSource source) {
        this.tokenizer = source.tokenizer();
        this.lines = source.lines();
        this.dtype = source.dtype();
    }

    /** Encodes a text, or a record in JSON: it has no numbers if it is left out. */
    void encode(byte[] utf8) {
        ids.clear();
        if (lines == null) {
            tokenizer.encode(MemorySegment.ofArray(utf8), SpecialText.ORDINARY, ids);
        } else if (!lines.encode(utf8, 0, utf8.length, ids)) {
            ids.clear();
        }
        store();
    }

    /** Whether what was encoded is a record that is left out. */
    boolean isLeftOut() {
        return lines != null && count == 0;
    }

    /**
     * Takes ids.
     *
     * @throws IllegalArgumentException if one is null or not in the vocabulary; says which
     */
    void take(ArrayData array) {
        ids.clear();
        for (int i = 0; i < array.numElements(); i++) {
            if (array.isNullAt(i) || array.getLong(i) < 0 || array.getLong(i) >= tokenizer.vocabularySize()) {
                throw new IllegalArgumentException("token " + i + ": found "
                        + (array.isNullAt(i) ? "null" : array.getLong(i)) + ", expected 0 to "
                        + (tokenizer.vocabularySize() - 1) + ", as the tokenizer has them");
            }
            ids.append((int) array.getLong(i));
        }
        store();
    }

    private void store() {
        count = ids.size();
        int bytes = Math.multiplyExact(count, dtype.byteSize());
        if (bytes > stored.length) {
            stored = new byte[bytes + bytes / 4];
        }
        ids.copyTo(MemorySegment.ofArray(stored), dtype);
    }

    /** Takes tokens as a store has them. */
    void takeStored(byte[] tokens) {
        stored = tokens;
        count = tokens.length / dtype.byteSize();
    }

    /** The tokens from the first byte on; there may be room behind them. */
    byte[] stored() {
        return stored;
    }

    int count() {
        return count;
    }

    /** The bytes of the tokens. */
    int byteSize() {
        return count * dtype.byteSize();
    }
}
