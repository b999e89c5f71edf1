// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import java.util.Arrays;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.api.java.UDF1;
import org.jspecify.annotations.Nullable;

/** Makes tokens, as a store has them, of a document's UTF-8, so that a shuffle moves them and not the text. */
final class DocumentEncoder implements UDF1<byte[], byte[]> {

    private static final long serialVersionUID = 1;

    private final Broadcast<TokenizerSource> tokenizer;
    /** That of the task, which has its own copy of the encoder. */
    private transient @Nullable DocumentTokens tokens;

    DocumentEncoder(Broadcast<TokenizerSource> tokenizer) {
        this.tokenizer = tokenizer;
    }

    @Override
    public byte @Nullable [] call(byte @Nullable [] utf8) {
        if (utf8 == null) {
            return null;
        }
        DocumentTokens document = tokens;
        if (document == null) {
            document = new DocumentTokens(tokenizer.value());
            tokens = document;
        }
        document.encode(utf8);
        return Arrays.copyOf(document.stored(), document.byteSize());
    }
}
