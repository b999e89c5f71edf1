// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** The tokens of a {@link MemoryTokenStore} of any dtype, in a mapped file behind a few other bytes. */
public final class FileTokenStore implements TokenStore {

    /** Odd, so that no token is aligned. */
    private static final int HEADER_BYTES = 13;

    private final MappedFile file;
    private final MemoryTokenStore model;

    /** Writes the file; closes neither the model nor the file's folder. */
    public FileTokenStore(Path folder, MemoryTokenStore model) throws IOException {
        this.model = model;
        Span all = new Span();
        model.locate(0, model.tokenCount(), all);
        byte[] bytes = new byte[(int) (HEADER_BYTES + all.byteSize())];
        MemorySegment.copy(all.segment(), ValueLayout.JAVA_BYTE, all.byteOffset(), bytes, HEADER_BYTES,
                (int) all.byteSize());
        this.file = MappedFile.open(Files.write(Files.createTempFile(folder, "tokens-", ".bin"), bytes));
    }

    @Override
    public DType dtype() {
        return model.dtype();
    }

    @Override
    public long tokenCount() {
        return model.tokenCount();
    }

    @Override
    public long documentCount() {
        return model.documentCount();
    }

    @Override
    public long documentStart(long document) {
        return model.documentStart(document);
    }

    @Override
    public void locate(long firstToken, long count, Span into) {
        Objects.checkFromIndexSize(firstToken, count, tokenCount());
        into.set(file, HEADER_BYTES + firstToken * dtype().byteSize(), count * dtype().byteSize());
    }

    @Override
    public String fingerprint() {
        return "file:" + model.fingerprint();
    }

    @Override
    public void close() {
        file.close();
    }
}
