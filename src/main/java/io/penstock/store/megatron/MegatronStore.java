package io.penstock.store.megatron;

import io.penstock.memory.DType;
import io.penstock.memory.MappedFile;
import io.penstock.memory.Span;
import io.penstock.store.MalformedStoreException;
import io.penstock.store.StoreFormat;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TokenStore;
import io.penstock.store.mapped.Fingerprint;
import io.penstock.store.mapped.Mapping;
import io.penstock.store.mapped.TokenRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * A store in Megatron-LM's format, read in place: tokens and index are views of the two mapped files.
 *
 * <p>A {@code .bin} may be longer than its index says, as it may for Megatron; the surplus is not part of the store.
 * A store may hold no token at all, as the one that an empty corpus makes. The format has floating-point elements too:
 * they can be inspected, and no collator takes them for tokens.
 */
public final class MegatronStore implements TokenStore, StoreInfo.Source {

    private final MappedFile indexFile;
    private final MegatronIndex index;
    private final TokenRun tokens;
    private volatile String fingerprint;

    private MegatronStore(MappedFile indexFile, MegatronIndex index, MappedFile tokenFile)
            throws MalformedStoreException {
        if (tokenFile.byteSize() < index.tokenBytes()) {
            throw new MalformedStoreException(tokenFile.path(), tokenFile.byteSize(), "the file ends",
                    index.tokenBytes() + " bytes, as " + indexFile.path() + " says");
        }
        this.indexFile = indexFile;
        this.index = index;
        this.tokens = new TokenRun(tokenFile, 0, index.dtype(), index.tokenBytes() / index.dtype().byteSize());
    }

    /**
     * Opens and checks a store.
     *
     * @param path its {@code .idx}, its {@code .bin}, or both without the ending
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the files are not a whole Megatron store
     * @throws IOException if there is no index, or a file cannot be read
     */
    public static MegatronStore open(Path path) throws IOException {
        return Mapping.open(indexOf(path), indexFile -> {
            MegatronIndex index = new MegatronIndex(indexFile);
            Path binPath = sibling(path, ".bin");
            if (!Files.exists(binPath)) {
                throw new MalformedStoreException(binPath, "no such file",
                        index.tokenBytes() + " bytes of tokens, as " + indexFile.path() + " says");
            }
            return Mapping.open(binPath, tokenFile -> new MegatronStore(indexFile, index, tokenFile));
        });
    }

    /**
     * Where the index of a store is.
     *
     * @param path the store's {@code .idx}, its {@code .bin}, or both without the ending
     * @return the path of the {@code .idx}
     */
    public static Path indexOf(Path path) {
        return sibling(path, ".idx");
    }

    /**
     * Whether a file is a Megatron index.
     *
     * @param head its first bytes
     * @return true if they are the format's magic
     */
    public static boolean isIndex(byte[] head) {
        return MegatronIndex.isMagic(head);
    }

    static Path sibling(Path path, String ending) {
        String name = path.getFileName() == null ? "" : path.getFileName().toString();
        boolean isFile = name.endsWith(".idx") || name.endsWith(".bin");
        return path.resolveSibling((isFile ? name.substring(0, name.length() - 4) : name) + ending);
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
        return index.documents();
    }

    /**
     * How many sequences the documents are made of.
     *
     * @return the count
     */
    public long sequenceCount() {
        return index.sequences();
    }

    /**
     * The first sequence of a document; document {@code d} is the sequences from {@code firstSequence(d)} to
     * {@code firstSequence(d + 1)}.
     *
     * @param document from 0 to {@link #documentCount()}, which gives {@link #sequenceCount()}
     * @return the sequence's number
     * @throws IndexOutOfBoundsException if there is no such document
     */
    public long firstSequence(long document) {
        Objects.checkIndex(document, index.documents() + 1);
        return read(() -> index.firstSequence(document));
    }

    /**
     * Where a sequence starts; sequence {@code s} is the tokens from {@code sequenceStart(s)} to
     * {@code sequenceStart(s + 1)}.
     *
     * @param sequence from 0 to {@link #sequenceCount()}, which gives {@link #tokenCount()}
     * @return the position of its first token
     * @throws IndexOutOfBoundsException if there is no such sequence
     */
    public long sequenceStart(long sequence) {
        Objects.checkIndex(sequence, index.sequences() + 1);
        return read(() -> index.pointer(sequence) / dtype().byteSize());
    }

    /**
     * Whether each sequence has a mode.
     *
     * @return true if the index was written for several modalities
     */
    public boolean isMultimodal() {
        return index.isMultimodal();
    }

    /**
     * The mode of a sequence: which modality it is of. What the numbers stand for is the writer's affair; Megatron has
     * 0 for text.
     *
     * @param sequence its number
     * @return the mode, -128 to 127
     * @throws IndexOutOfBoundsException if there is no such sequence
     * @throws IllegalStateException if the store is not {@link #isMultimodal multimodal}
     */
    public int mode(long sequence) {
        if (!isMultimodal()) {
            throw new IllegalStateException(indexFile.path() + " has no sequence modes");
        }
        Objects.checkIndex(sequence, index.sequences());
        return (int) read(() -> index.mode(sequence));
    }

    @Override
    public long documentStart(long document) {
        Objects.checkIndex(document, index.documents() + 1);
        try {
            return index.pointer(index.firstSequence(document)) / dtype().byteSize();
        } catch (InternalError fault) {
            indexFile.checkSize();
            throw fault;
        }
    }

    /** Looks something up in the index, whose file may shrink. */
    private long read(LongSupplier lookUp) {
        try {
            return lookUp.getAsLong();
        } catch (InternalError fault) {
            indexFile.checkSize();
            throw fault;
        }
    }

    @Override
    public void locate(long firstToken, long tokenCount, Span into) {
        tokens.locate(firstToken, tokenCount, into);
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = "megatron:" + dtype() + ":tokens=" + tokenCount() + ":docs=" + documentCount() + ":sha256="
                    + new Fingerprint().add(indexFile).add(tokens.file()).hex();
        }
        return fingerprint;
    }

    @Override
    public StoreInfo info() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("dtype", dtype().toString());
        details.put("dtype_code", MegatronIndex.codeOf(dtype()));
        details.put("sequences", index.sequences());
        details.put("documents", index.documents());
        details.put("multimodal", index.isMultimodal());
        List<StoredArray> arrays = new ArrayList<>();
        arrays.add(new StoredArray("sequence_lengths", index.lengths()));
        arrays.add(new StoredArray("sequence_pointers", index.pointers()));
        arrays.add(new StoredArray("document_indices", index.documentIndices()));
        arrays.add(new StoredArray("tokens", tokens.tensor()));
        if (index.isMultimodal()) {
            arrays.add(new StoredArray("sequence_modes", index.modes()));
        }
        return new StoreInfo(StoreFormat.MEGATRON.toString(), List.of(indexFile.path(), tokens.file().path()),
                details, arrays);
    }

    @Override
    public void close() {
        tokens.file().close();
        indexFile.close();
    }

    @Override
    public String toString() {
        return indexFile.path() + " (" + tokenCount() + " tokens of " + dtype() + ")";
    }
}
