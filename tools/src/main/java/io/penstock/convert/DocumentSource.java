// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.RecordStore;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import java.io.IOException;

/** Integer documents, one after another. */
interface DocumentSource extends AutoCloseable {

    /** Receives a run of tokens. */
    @FunctionalInterface
    interface Sink {

        void accept(Span tokens) throws IOException;
    }

    /** Returns the documents of a store; records what cannot be read as documents. */
    static DocumentSource of(Conversion conversion) throws IOException {
        return switch (conversion.source) {
            case TokenStore tokens -> new TokenDocuments(conversion, tokens);
            case TensorStore tensors -> TensorDocuments.of(conversion, tensors);
            case RecordStore records -> RecordDocuments.of(conversion, records);
        };
    }

    DType dtype();

    /** Returns what the numbers are; by default ids. */
    default TokenContent content() {
        return TokenContent.TOKENS;
    }

    long count();

    /** Returns the number of tokens; -1 if only a pass would tell. */
    long tokens();

    /** Passes a document's tokens on, in one run or several; none if it is empty. */
    void read(long document, Sink sink) throws IOException;

    default String name(long document) {
        return "document " + document;
    }

    /** Frees what the source owns; the store belongs to its opener. */
    @Override
    default void close() {
    }
}
