// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.format.TokenDescription;
import io.penstock.format.TokenRun;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.Generation;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A store in Megatron-LM's format, read in place: tokens and index are views of the two mapped files.
 *
 * <p>Positions count through the sequences in index order. Writers put sequences into the {@code .bin} contiguously in
 * that order. An index may also skip, reorder or repeat sequences: ranges that are not contiguous are located
 * {@linkplain #locatePart piece by piece}.
 *
 * <p>A {@code .bin} may be longer than its index says, as it may for Megatron; the surplus is not part of the store. A
 * store may be empty. The format also has floating-point elements: they can be inspected, but collators reject them as
 * tokens.
 */
public final class MegatronStore implements TokenStore, StoreInfo.Described {

    /** The arrays that are listed before the tokens. */
    private static final int ARRAYS_OF_INDEX = 3;

    private final MappedFile indexFile;
    private final MegatronIndex index;
    private final MappedFile tokenFile;
    /** The tokens if they are one run, otherwise null. */
    private final @Nullable TokenRun run;
    /** The positions of the sequences if they are not one run, otherwise null. */
    private final @Nullable SequencePositions positions;
    private volatile @Nullable String fingerprint;

    private MegatronStore(MappedFile indexFile, MegatronIndex index, MappedFile tokenFile) {
        if (tokenFile.byteSize() < index.binBytes()) {
            throw new MalformedStoreException(tokenFile.location(), tokenFile.byteSize(), "the file ends",
                    index.binBytes() + " bytes, as " + indexFile.location() + " says");
        }
        this.indexFile = indexFile;
        this.index = index;
        this.tokenFile = tokenFile;
        this.run = index.isOneRun() ? new TokenRun(tokenFile, index.runStart(), index.dtype(), index.tokens()) : null;
        this.positions = index.isOneRun() ? null : new SequencePositions(index, tokenFile);
    }

    /**
     * Opens a store and checks its index.
     *
     * @param path its {@code .idx}, its {@code .bin}, or their common prefix
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the files are not a complete Megatron store
     * @throws IOException if the index is missing, or a file cannot be read
     */
    public static MegatronStore open(Location path) throws IOException {
        Location index = indexOf(path);
        return Generation.open(path, () -> Generation.of(List.of(index)), () -> Mapping.open(index, indexFile ->
                open(path, indexFile, new MegatronIndex(indexFile))));
    }

    private static MegatronStore open(Location path, MappedFile indexFile, MegatronIndex index) throws IOException {
        Location tokens = sibling(path, ".bin");
        try {
            return Mapping.open(tokens, indexFile, tokenFile -> new MegatronStore(indexFile, index, tokenFile));
        } catch (NoSuchFileException e) {
            throw new MalformedStoreException(tokens, "no such file",
                    index.binBytes() + " bytes of tokens, as " + indexFile.location() + " says");
        }
    }

    /** Returns the {@code .idx} of a store, given by either file or their common prefix. */
    static Location indexOf(Location path) {
        return sibling(path, ".idx");
    }

    private static Location sibling(Location path, String ending) {
        return path.resolveSibling(prefix(path.name()) + ending);
    }

    /** Returns the name without the ending {@code .idx} or {@code .bin}. */
    static String prefix(String name) {
        boolean isFile = name.endsWith(".idx") || name.endsWith(".bin");
        return isFile ? name.substring(0, name.length() - ".idx".length()) : name;
    }

    @Override
    public DType dtype() {
        return index.dtype();
    }

    @Override
    public TokenContent content() {
        return index.content();
    }

    @Override
    public long tokenCount() {
        return index.tokens();
    }

    @Override
    public long documentCount() {
        return index.documents();
    }

    /** {@return the number of sequences in all documents} */
    public long sequenceCount() {
        return index.sequences();
    }

    /**
     * {@return the first sequence of a document, which ends where the next one starts}
     *
     * @param document from 0 to {@link #documentCount()}; the latter returns {@link #sequenceCount()}
     * @throws IndexOutOfBoundsException if the document does not exist
     */
    public long firstSequence(long document) {
        Objects.checkIndex(document, index.documents() + 1);
        return indexFile.reading(() -> index.firstSequence(document));
    }

    /**
     * {@return the position of a sequence's first token; the sequence ends where the next one starts}
     *
     * @param sequence from 0 to {@link #sequenceCount()}; the latter returns {@link #tokenCount()}
     * @throws IndexOutOfBoundsException if the sequence does not exist
     */
    public long sequenceStart(long sequence) {
        Objects.checkIndex(sequence, index.sequences() + 1);
        return indexFile.reading(() -> position(sequence));
    }

    private long position(long sequence) {
        if (positions != null) {
            return positions.position(sequence);
        }
        return sequence == index.sequences() ? index.tokens()
                : (index.pointer(sequence) - index.runStart()) / dtype().byteSize();
    }

    /** {@return whether each sequence has a mode} */
    public boolean isMultimodal() {
        return index.isMultimodal();
    }

    /**
     * {@return the mode of a sequence, -128 to 127: a number for its modality, chosen by the writer} Megatron uses 0
     * for text.
     *
     * @param sequence its number
     * @throws IndexOutOfBoundsException if the sequence does not exist
     * @throws IllegalStateException if the store is not {@link #isMultimodal multimodal}
     */
    public int mode(long sequence) {
        if (!isMultimodal()) {
            throw new IllegalStateException(indexFile.location() + " has no sequence modes");
        }
        Objects.checkIndex(sequence, index.sequences());
        return indexFile.reading(() -> index.mode(sequence));
    }

    @Override
    public long documentStart(long document) {
        Objects.checkIndex(document, index.documents() + 1);
        try {
            return position(index.firstSequence(document));
        } catch (InternalError fault) {
            throw indexFile.explain(fault);
        }
    }

    @Override
    public boolean isOneRun() {
        return positions == null;
    }

    @Override
    public boolean documentsAreRuns() {
        return positions == null || positions.documentsAreRuns();
    }

    @Override
    public void locate(long firstToken, long tokenCount, Span into) {
        if (run != null) {
            run.locate(firstToken, tokenCount, into);
        } else if (parts(firstToken, tokenCount) != 1) {
            throw TokenRun.inPieces(tokenFile.location(), firstToken, tokenCount, parts(firstToken, tokenCount));
        } else {
            locatePart(firstToken, tokenCount, 0, into);
        }
    }

    @Override
    public int parts(long firstToken, long tokenCount) {
        TokenRun.check(tokenFile.location(), firstToken, tokenCount, index.tokens());
        if (positions == null) {
            return 1;
        }
        try {
            return positions.parts(firstToken, tokenCount);
        } catch (InternalError fault) {
            throw indexFile.explain(fault);
        }
    }

    @Override
    public void locatePart(long firstToken, long tokenCount, int part, Span into) {
        TokenRun.check(tokenFile.location(), firstToken, tokenCount, index.tokens());
        if (positions == null) {
            TokenStore.super.locatePart(firstToken, tokenCount, part, into);
            return;
        }
        try {
            if (!positions.locatePart(firstToken, tokenCount, part, into)) {
                throw new IndexOutOfBoundsException(indexFile.location() + ": piece " + part + " of "
                        + parts(firstToken, tokenCount));
            }
        } catch (InternalError fault) {
            throw indexFile.explain(fault);
        }
    }

    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            known = "megatron:" + dtype() + ":tokens=" + tokenCount() + ":docs=" + documentCount() + ":sha256="
                    + new Fingerprint().add(indexFile).add(tokenFile).hex();
            fingerprint = known;
        }
        return known;
    }

    /** {@inheritDoc} Its arrays include the tokens if they are one run; {@link #inspect} always includes them. */
    @Override
    public StoreInfo info() {
        Map<String, @Nullable Object> details = Json.members("dtype", dtype().toString(),
                "dtype_code", MegatronIndex.codeOf(content(), dtype()),
                "content", content().fieldName(), "sequences", index.sequences(), "documents", index.documents(),
                "multimodal", index.isMultimodal());
        if (positions != null) {
            details.put("in_pieces", true);
        }
        List<StoredArray> arrays = new ArrayList<>(index.arrays());
        if (run != null) {
            arrays.add(new StoredArray(TokenDescription.NAME, run.tensor()));
        }
        if (index.isMultimodal()) {
            arrays.add(index.modes());
        }
        return new StoreInfo("megatron", List.of(indexFile.location(), tokenFile.location()), details, arrays);
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        Inspection inspection = TokenStore.super.inspect(depth, progress);
        if (run != null) {
            return inspection;
        }
        List<Inspection.Array> arrays = new ArrayList<>(Objects.requireNonNull(inspection.arrays()));
        arrays.add(ARRAYS_OF_INDEX, TokenDescription.of(this, depth, progress));
        return new Inspection(inspection.path(), inspection.kind(), inspection.files(), inspection.details(), arrays);
    }

    /** Closes the descriptors of both files, as {@link MappedFile#releaseDescriptor} does. */
    public void releaseDescriptors() {
        tokenFile.releaseDescriptor();
        indexFile.releaseDescriptor();
    }

    @Override
    public void close() {
        tokenFile.close();
        indexFile.close();
    }

    @Override
    public String toString() {
        return indexFile.location() + " (" + tokenCount() + " tokens of " + dtype() + ")";
    }
}
