// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.tokens;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.format.TokenRun;
import io.penstock.format.TokenRunStore;
import io.penstock.io.Advice;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Tensor;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoredArray;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * datatrove's tokenized files, read in place:
 *
 * <pre>
 *   X.ds            u16[] or u32[]   tokens
 *   X.ds.index      u64[]            the end of each document, in tokens; the first starts at 0
 *   X.ds.metadata   text             first line: tokenizer '|' bytes per token; may be missing
 *   X.ds.loss       u8[]             for each token, 1 if it counts in the loss, otherwise 0; may be missing
 * </pre>
 */
public final class DatatroveProvider implements StoreProvider {

    private static final String NAME = "datatrove";
    private static final String INDEX = ".index";
    private static final String METADATA = ".metadata";
    private static final String LOSS = ".loss";
    private static final int CHUNK_ENTRIES = 1 << 20;

    /** For the service loader. */
    public DatatroveProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean isTokens() {
        return true;
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() && (companion(candidate.path(), INDEX).exists()
                || candidate.nameEndsWith(".ds") || isCompanion(candidate.path()));
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        Location dsPath = isCompanion(path) ? withoutLastEnding(path) : path;
        Location index = companion(dsPath, INDEX);
        if (index.infoOfNamed().kind() == EntryKind.ABSENT) {
            dsPath.openChannel().close();   // a missing token file is reported first
            throw new MalformedStoreException(index, "no such file", "the document ends of " + dsPath);
        }
        return Mapping.open(index, indexFile ->
                Mapping.open(dsPath, indexFile, tokenFile -> open(tokenFile, indexFile, options.dtype())));
    }

    /** Without a given type and {@code .metadata}, the sizes of the files determine the type of the tokens. */
    private static Store open(MappedFile tokenFile, MappedFile indexFile, @Nullable DType given) throws IOException {
        long tokenCount = checkedEnd(indexFile);
        Location beside = companion(tokenFile.location(), METADATA);
        Location metadata = beside.exists() ? beside : null;
        DType dtype = dtypeOf(tokenFile, tokenCount, metadata, given);
        long expectedBytes = tokenCount * dtype.byteSize();
        if (tokenFile.byteSize() != expectedBytes) {
            throw new MalformedStoreException(tokenFile.location(), Math.min(tokenFile.byteSize(), expectedBytes),
                    "a file of " + tokenFile.byteSize() + " bytes", expectedBytes + ": the " + tokenCount
                    + " tokens of " + dtype + " at which " + indexFile.location() + " ends");
        }
        TokenRun tokens = new TokenRun(tokenFile, 0, dtype, tokenCount);
        Location lossPath = companion(tokenFile.location(), LOSS);
        if (!lossPath.exists()) {
            return new TokenRunStore(NAME, tokens, indexFile, List.of(), () -> info(tokens, indexFile, null, metadata));
        }
        return Mapping.open(lossPath, lossFile -> {
            if (lossFile.byteSize() != tokenCount) {
                throw new MalformedStoreException(lossPath, Math.min(lossFile.byteSize(), tokenCount),
                        "a file of " + lossFile.byteSize() + " bytes", tokenCount + ", one a token");
            }
            return new TokenRunStore(NAME, tokens, indexFile, List.of(lossFile),
                    () -> info(tokens, indexFile, lossFile, metadata));
        });
    }

    /** Checks the index; returns the end of the last document, at most 2^60. */
    private static long checkedEnd(MappedFile index) {
        long bytes = index.byteSize();
        if (bytes % Long.BYTES != 0) {
            throw new MalformedStoreException(index.location(), bytes / Long.BYTES * Long.BYTES,
                    "the file's " + bytes + " bytes end inside a number", "a whole number of u64 (is it cut?)");
        }
        long previous = 0;
        for (long from = 0; from < bytes / Long.BYTES; from += CHUNK_ENTRIES) {
            int count = (int) Math.min(CHUNK_ENTRIES, bytes / Long.BYTES - from);
            index.advise(Advice.POPULATE_READ, from * Long.BYTES, (long) count * Long.BYTES);
            MemorySegment ends = index.range(from * Long.BYTES, (long) count * Long.BYTES);
            for (int i = 0; i < count; i++) {
                long end = ends.get(LittleEndian.I64, (long) i * Long.BYTES);
                if (end < previous || end > 1L << 60) {
                    throw new MalformedStoreException(index.location(), (from + i) * Long.BYTES,
                            "document " + (from + i) + " ends at token " + Long.toUnsignedString(end),
                            previous + " or more, where the document before it ends, and below 2^60");
                }
                previous = end;
            }
        }
        return previous;
    }

    private static DType dtypeOf(MappedFile tokenFile, long tokenCount, @Nullable Location metadata,
            @Nullable DType given) throws IOException {
        DType stored = metadata != null ? DatatroveMetadata.dtype(metadata) : null;
        if (metadata == null || stored == null) {
            boolean wide = tokenCount > 0 && tokenFile.byteSize() == tokenCount * Integer.BYTES;
            return given != null ? given : wide ? DType.U32 : DType.U16;
        }
        if (given != null && given != stored) {
            throw new MalformedStoreException(metadata, "tokens of " + stored, given + ", as given");
        }
        return stored;
    }

    /** Tells whether a path has the name of a file next to an existing {@code .ds}. */
    private static boolean isCompanion(Location path) throws IOException {
        String name = path.name();
        return (name.endsWith(".ds" + INDEX) || name.endsWith(".ds" + METADATA) || name.endsWith(".ds" + LOSS))
                && withoutLastEnding(path).isFile();
    }

    private static Location companion(Location path, String ending) {
        return path.resolveSibling(path.name() + ending);
    }

    private static Location withoutLastEnding(Location path) {
        String name = path.name();
        return path.resolveSibling(name.substring(0, name.lastIndexOf('.')));
    }

    private static StoreInfo info(TokenRun tokens, MappedFile indexFile, @Nullable MappedFile lossFile,
            @Nullable Location metadata) {
        Map<String, @Nullable Object> details = new LinkedHashMap<>();
        details.put("dtype", tokens.dtype().toString());
        long documents = indexFile.byteSize() / Long.BYTES;
        details.put("documents", documents);
        List<Location> files = new ArrayList<>(List.of(tokens.file().location(), indexFile.location()));
        if (metadata != null) {
            files.add(metadata);
        }
        List<StoredArray> arrays = new ArrayList<>();
        arrays.add(new StoredArray("tokens", tokens.tensor()));
        arrays.add(new StoredArray("document_ends", Tensor.of(indexFile.segment(), DType.U64, documents)));
        if (lossFile != null) {
            files.add(lossFile.location());
            arrays.add(new StoredArray("loss_mask", Tensor.of(lossFile.segment(), DType.BOOL, tokens.tokenCount())));
        }
        return new StoreInfo(NAME, files, details, arrays);
    }
}
