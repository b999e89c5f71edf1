package io.penstock.convert;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.RecordStore;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.io.IOException;

/** Documents of integers, one after the other. */
interface DocumentSource extends AutoCloseable {

    /** Takes a run of tokens. */
    @FunctionalInterface
    interface Sink {

        void accept(Span tokens) throws IOException;
    }

    /** What can be read as documents in a store; notes what of it cannot. */
    static DocumentSource of(Conversion conversion) throws IOException {
        return switch (conversion.source()) {
            case TokenStore tokens -> new TokenDocuments(conversion, tokens);
            case TensorStore tensors -> TensorDocuments.of(conversion, tensors);
            case RecordStore records -> RecordDocuments.of(conversion, records);
        };
    }

    /** The type of the tokens; integers. */
    DType dtype();

    /** How many documents. */
    long count();

    /** All tokens together; -1 if it takes a pass to know. */
    long tokens();

    /** Gives the tokens of a document, in one run or several; none if it is empty. */
    void read(long document, Sink sink) throws IOException;

    /** What the source calls a document. */
    default String name(long document) {
        return "document " + document;
    }

    @Override
    void close();
}
