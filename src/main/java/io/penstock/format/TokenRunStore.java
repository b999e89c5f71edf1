// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TokenStore;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A store of contiguous tokens: one document, or several whose ends are in a second file. */
public final class TokenRunStore implements TokenStore, StoreInfo.Described {

    private final String format;
    private final TokenRun tokens;
    /** The document ends, {@code u64}; null for a single document (none if there are no tokens). */
    private final @Nullable MappedFile documentEnds;
    private final List<MappedFile> others;
    private final Supplier<StoreInfo> info;
    private volatile @Nullable String fingerprint;

    /**
     * Creates a store of several files and owns them. {@code documentEnds} has the end of each document in tokens,
     * {@code u64}, non-decreasing; null for a single document, or none if there are no tokens.
     */
    public TokenRunStore(String format, TokenRun tokens, @Nullable MappedFile documentEnds, List<MappedFile> others,
            Supplier<StoreInfo> info) {
        this.format = format;
        this.tokens = tokens;
        this.documentEnds = documentEnds;
        this.others = List.copyOf(others);
        this.info = info;
    }

    /** Creates a store of one file, which it owns, and one document, or none if there are no tokens. */
    public static TokenRunStore of(String format, TokenRun tokens, Supplier<Map<String, @Nullable Object>> details) {
        return new TokenRunStore(format, tokens, null, List.of(), () -> new StoreInfo(format,
                List.of(tokens.file().location()), details.get(), List.of(new StoredArray("tokens", tokens.tensor()))));
    }

    @Override
    public DType dtype() {
        return tokens.dtype();
    }

    @Override
    public long tokenCount() {
        return tokens.tokenCount();
    }

    @Override
    public long documentCount() {
        return documentEnds != null ? documentEnds.byteSize() / Long.BYTES : tokenCount() == 0 ? 0 : 1;
    }

    @Override
    public long documentStart(long document) {
        Objects.checkIndex(document, documentCount() + 1);
        if (document == 0) {
            return 0;
        }
        if (documentEnds == null) {
            return tokenCount();
        }
        try {
            return documentEnds.segment().get(LittleEndian.I64, (document - 1) * Long.BYTES);
        } catch (InternalError fault) {
            throw documentEnds.explain(fault);
        }
    }

    @Override
    public void locate(long firstToken, long tokenCount, Span into) {
        tokens.locate(firstToken, tokenCount, into);
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint bytes = new Fingerprint();
            if (documentEnds != null) {
                bytes.add(documentEnds);
            }
            fingerprint = format + ":" + dtype() + ":tokens=" + tokenCount() + ":docs=" + documentCount() + ":sha256="
                    + bytes.add(tokens.file()).hex();
        }
        return fingerprint;
    }

    @Override
    public StoreInfo info() {
        return info.get();
    }

    @Override
    public void close() {
        others.forEach(MappedFile::close);
        tokens.file().close();
        if (documentEnds != null) {
            documentEnds.close();
        }
    }

    @Override
    public String toString() {
        return tokens.file().location() + " (" + tokenCount() + " tokens of " + dtype() + ")";
    }
}
