// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.format.megatron.MegatronStore;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.StoreInfo;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import java.io.IOException;

/** The documents of a token store. */
record TokenDocuments(TokenStore store, Span span) implements DocumentSource {

    TokenDocuments(Conversion conversion, TokenStore store) {
        this(store, new Span());
        loseSequences(conversion, store);
        if (hasLossMask(store)) {
            conversion.lose("loss mask");
        }
    }

    /** Records that a Megatron store's sequence starts within documents and sequence modes are lost. */
    static void loseSequences(Conversion conversion, TokenStore store) {
        if (store instanceof MegatronStore megatron) {
            if (megatron.sequenceCount() != megatron.documentCount()) {
                conversion.lose("sequence boundaries within documents");
            }
            if (megatron.isMultimodal()) {
                conversion.lose("sequence modes");
            }
        }
    }

    static boolean hasLossMask(TokenStore store) {
        return store instanceof StoreInfo.Described source
                && source.info().arrays().stream().anyMatch(array -> array.name().equals(TensorTarget.LOSS_MASK));
    }

    @Override
    public DType dtype() {
        return store.dtype();
    }

    @Override
    public TokenContent content() {
        return store.content();
    }

    @Override
    public long count() {
        return store.documentCount();
    }

    @Override
    public long tokens() {
        return store.tokenCount();
    }

    @Override
    public void read(long document, Sink sink) throws IOException {
        long start = store.documentStart(document);
        long tokens = store.documentStart(document + 1) - start;
        int parts = store.parts(start, tokens);
        for (int part = 0; part < parts; part++) {
            store.locatePart(start, tokens, part, span);
            sink.accept(span);
        }
    }
}
