package io.penstock.format.nanogpt;

import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.format.TokenRun;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.StoreFormat;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;

/** A file of little-endian tokens and nothing else, read in place; all of it is one document. */
public final class NanogptStore implements TokenStore, StoreInfo.Source {

    private static final long FIRST_SHOWN = 16;
    private static final long LAST_SHOWN = 8;

    private final TokenRun tokens;
    private volatile String fingerprint;

    private NanogptStore(MappedFile file, DType dtype) throws MalformedStoreException {
        long tokenBytes = dtype.byteSize();
        if (file.byteSize() == 0) {
            throw new MalformedStoreException(file.location(), 0, "the file is empty", "a " + dtype
                    + " token at least");
        }
        if (file.byteSize() % tokenBytes != 0) {
            throw new MalformedStoreException(file.location(), file.byteSize() / tokenBytes * tokenBytes,
                    "the file's " + file.byteSize() + " bytes end inside a token",
                    "a whole number of " + dtype + " tokens, a multiple of " + tokenBytes + " bytes (is it cut?)");
        }
        this.tokens = new TokenRun(file, 0, dtype, file.byteSize() / tokenBytes);
    }

    /**
     * Opens and checks a store.
     *
     * @param path its file
     * @param dtype the type of its tokens, which the file does not say; {@code u16} is nanoGPT's
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the file is empty, or not a whole number of tokens
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static NanogptStore open(Location path, DType dtype) throws IOException {
        return Mapping.open(path, file -> new NanogptStore(file, dtype));
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
        return 1;
    }

    @Override
    public long documentStart(long document) {
        return Objects.checkIndex(document, 2L) * tokenCount();
    }

    @Override
    public void locate(long firstToken, long tokenCount, Span into) {
        tokens.locate(firstToken, tokenCount, into);
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = "nanogpt:" + dtype() + ":tokens=" + tokenCount() + ":docs=1:sha256="
                    + new Fingerprint().add(tokens.file()).hex();
        }
        return fingerprint;
    }

    @Override
    public StoreInfo info() {
        Tensor all = tokens.tensor();
        long count = tokenCount();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("dtype", dtype().toString());
        details.put("first", LongStream.range(0, Math.min(count, FIRST_SHOWN)).map(all::getLong).boxed().toList());
        details.put("last", LongStream.range(Math.max(0, count - LAST_SHOWN), count).map(all::getLong).boxed()
                .toList());
        return new StoreInfo(StoreFormat.NANOGPT.toString(), List.of(tokens.file().location()), details,
                List.of(new StoredArray("tokens", all)));
    }

    @Override
    public void close() {
        tokens.file().close();
    }

    @Override
    public String toString() {
        return tokens.file().location() + " (" + tokenCount() + " tokens of " + dtype() + ")";
    }
}
