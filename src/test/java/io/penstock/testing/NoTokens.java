// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** A {@code u8} store of any size that holds nothing: a span's offset and size are a token's position and count. */
public record NoTokens(long... starts) implements TokenStore {

    @Override
    public DType dtype() {
        return DType.U8;
    }

    @Override
    public long tokenCount() {
        return starts[starts.length - 1];
    }

    @Override
    public long documentCount() {
        return starts.length - 1;
    }

    @Override
    public long documentStart(long document) {
        return starts[Math.toIntExact(document)];
    }

    /** Rows of one run would be checked against memory that is not there. */
    @Override
    public boolean isOneRun() {
        return false;
    }

    @Override
    public void locate(long firstToken, long tokens, Span into) {
        Objects.checkFromIndexSize(firstToken, tokens, tokenCount());
        into.set(MemorySegment.NULL, firstToken, tokens);
    }

    @Override
    public String fingerprint() {
        return "nothing:" + tokenCount();
    }

    @Override
    public void close() {
        // It holds nothing.
    }
}
