// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.format.StagedChecksums;
import io.penstock.io.Location;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.store.TokenContent;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a store in Megatron-LM's format, {@code X.bin} and {@code X.idx}, with the checksums of both in
 * {@code X.sha256}, which {@code sha256sum -c} checks, and those of their {@linkplain BlockChecksums blocks} in
 * {@code X.bin.crc32c} and {@code X.idx.crc32c}.
 *
 * <p>Documents are written in concurrent parts; {@link #commit} concatenates the parts in order of creation and
 * publishes the store. Without a commit nothing remains:
 *
 * <pre>{@code
 * try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
 *     try (MegatronPart part = writer.part()) {
 *         part.append(tokens, 0, tokens.length);
 *         part.endDocument();
 *     }
 *     writer.commit();
 * }
 * }</pre>
 *
 * <p>The files are written in a locked folder {@code .X.writing} next to the store. {@link #close} and an orderly JVM
 * exit remove it; after a kill or a power cut the next writer does.
 */
public final class MegatronWriter implements AutoCloseable {

    /** The ending of the file that describes a part of a manifest store. */
    public static final String DESCRIPTION = ".part.json";

    private static final long MERGE_STEP_BYTES = 64L << 20;
    /** Megatron's rule: numpy's u16 with some room above the vocabulary. */
    private static final long U16_VOCABULARY_LIMIT = 65_500;

    private final Path prefix;
    private final DType dtype;
    private final IfExists ifExists;
    private final long maxSequenceTokens;
    private final StagingFolder staging;
    private final List<MegatronPart> parts = new ArrayList<>();
    private @Nullable Description description;
    private TokenContent content = TokenContent.TOKENS;
    private boolean finished;

    /** Creates the file that describes the store, beside it. */
    @FunctionalInterface
    public interface Description {
        /**
         * Creates the content of the file.
         *
         * @param written what was written
         * @return the content
         */
        byte[] of(MegatronSummary written);
    }

    private MegatronWriter(Path prefix, DType dtype, IfExists ifExists, long maxSequenceTokens) throws IOException {
        this.prefix = prefix;
        this.dtype = dtype;
        this.ifExists = ifExists;
        this.maxSequenceTokens = maxSequenceTokens;
        this.staging = StagingFolder.open(prefix);
    }

    /**
     * Creates a writer.
     *
     * @param path the store's path without an ending; {@code .bin} or {@code .idx} at its end is ignored
     * @param dtype the stored type of the tokens: {@code u8}, {@code i8}, {@code u16}, {@code i16}, {@code i32} or
     *     {@code i64}; see {@link #dtypeFor}
     * @param ifExists whether {@link #commit} replaces an existing store
     * @return the writer, to be closed by the caller
     * @throws FileAlreadyExistsException if one of the store's files exists and is not to be replaced
     * @throws IOException if the folder is missing or not writable, or another writer is active
     * @throws IllegalArgumentException if the format does not support the type
     */
    public static MegatronWriter create(Path path, DType dtype, IfExists ifExists) throws IOException {
        return create(path, dtype, ifExists, Integer.MAX_VALUE);
    }

    static MegatronWriter create(Path path, DType dtype, IfExists ifExists, long maxSequenceTokens) throws IOException {
        if (!dtype.isInteger() || MegatronIndex.codeOf(dtype) == 0) {
            throw new IllegalArgumentException("Megatron's format has no tokens of " + dtype
                    + ", expected u8, i8, u16, i16, i32 or i64");
        }
        MegatronWriter writer = new MegatronWriter(prefix(path), dtype, ifExists, maxSequenceTokens);
        try {
            writer.requireAbsent();
            return writer;
        } catch (IOException | RuntimeException e) {
            writer.close();
            throw e;
        }
    }

    /**
     * {@return the path of a store without an ending}
     *
     * @param path that path, or one that ends in {@code .bin} or {@code .idx}
     */
    public static Path prefix(Path path) {
        return path.resolveSibling(MegatronStore.prefix(path.getFileName().toString()));
    }

    /**
     * {@return Megatron's dtype for the tokens of a vocabulary: {@code u16} below 65,500, otherwise {@code i32}}
     *
     * @param vocabularySize one more than the greatest token
     */
    public static DType dtypeFor(long vocabularySize) {
        return vocabularySize < U16_VOCABULARY_LIMIT ? DType.U16 : DType.I32;
    }

    /**
     * Says what the numbers are; by default ids.
     *
     * @param what the content
     * @return this writer
     * @throws IllegalArgumentException if it is stored as {@code i32} and the store's dtype is another
     */
    public synchronized MegatronWriter content(TokenContent what) {
        if (what != TokenContent.TOKENS && dtype != DType.I32) {
            throw new IllegalArgumentException(what.fieldName() + " are stored as i32, found " + dtype);
        }
        content = what;
        return this;
    }

    /**
     * Adds a file {@code X.part.json} that describes the store; {@link #commit} publishes both or none.
     *
     * @param made creates its content
     * @throws IOException if there is such a file and it is not to be replaced
     */
    public synchronized void describe(Description made) throws IOException {
        requireUnfinished();
        description = made;
        requireAbsent();
    }

    /**
     * Creates the next part; its documents follow those of the earlier parts. Any thread may call this.
     *
     * @return the part, for one thread; to be closed by the caller, or by {@link #commit}
     */
    public synchronized MegatronPart part() {
        requireUnfinished();
        MegatronPart part = new MegatronPart(parts.size(), dtype, file(".bin"), staging, maxSequenceTokens);
        parts.add(part);
        return part;
    }

    private void requireUnfinished() {
        if (finished) {
            throw new IllegalStateException(prefix + ": the writer is committed or closed");
        }
    }

    /**
     * Publishes the store without reporting progress; see {@link #commit(Progress)}.
     *
     * @return what is written
     * @throws IOException as {@link #commit(Progress)}
     */
    public MegatronSummary commit() throws IOException {
        return commit(Progress.NONE);
    }

    /**
     * Publishes the store, complete and flushed to disk. Closes the writer, even on failure.
     *
     * @param progress receives the bytes that are merged and checksummed
     * @return what is written
     * @throws IOException if a part failed, a file cannot be written, or a file that must be kept has appeared; then
     *     nothing is published
     * @throws IllegalStateException if a part has tokens after its last {@link MegatronPart#endDocument}
     */
    public synchronized MegatronSummary commit(Progress progress) throws IOException {
        requireUnfinished();
        finished = true;
        try (this) {
            checkParts();
            List<MegatronPart> filled = parts.stream().filter(part -> part.sequences() > 0).toList();
            long tokens = filled.stream().mapToLong(MegatronPart::tokens).sum();
            long tokenBytes = tokens * dtype.byteSize();
            requireAbsent();
            new MegatronIndexFile(staging, filled).write(name(".idx"), file(".idx"), dtype, content);
            mergeTokens(filled, tokenBytes, progress);
            TokenDigests known = filled.size() == 1 ? filled.getFirst().digests() : null;
            Map<String, String> sha256 = StagedChecksums.writeListing(staging, name(".sha256"),
                    List.of(name(".bin"), name(".idx")),
                    known == null ? Map.of() : Map.of(name(".bin"), known.sha256()),
                    done -> progress.update(Math.min(tokenBytes + done, 2 * tokenBytes), 2 * tokenBytes));
            if (known == null) {
                StagedChecksums.write(staging, name(".bin"));
            } else {
                staging.write(name(".bin" + BlockChecksums.SUFFIX), MemorySegment.ofArray(
                        known.blocks(Location.of(staging.resolve(name(".bin")))).toBytes()));
            }
            StagedChecksums.write(staging, name(".idx"));
            MegatronSummary summary = new MegatronSummary(dtype,
                    filled.stream().mapToLong(MegatronPart::documents).sum(), tokens,
                    Objects.requireNonNull(sha256.get(name(".bin"))),
                    staging.naming(() -> Files.size(staging.resolve(name(".idx")))),
                    Objects.requireNonNull(sha256.get(name(".idx"))));
            if (description != null) {
                staging.write(name(DESCRIPTION), MemorySegment.ofArray(description.of(summary)));
            }
            requireAbsent();
            staging.publish(files().stream().map(file -> file.getFileName().toString()).toList(), surplus());
            return summary;
        }
    }

    /** Returns the old store's description, if this store has none to replace it. */
    private List<String> surplus() {
        return description == null && Files.exists(file(DESCRIPTION)) ? List.of(name(DESCRIPTION)) : List.of();
    }

    private void checkParts() throws IOException {
        for (MegatronPart part : parts) {
            part.close();
            if (part.failure() != null) {
                throw new IOException(prefix + ": not committed, for part " + part.number() + " failed: "
                        + part.failure().getMessage(), part.failure());
            }
            if (part.openTokens() > 0) {
                throw new IllegalStateException(prefix + ": part " + part.number() + " has " + part.openTokens()
                        + " tokens after the end of its last document");
            }
        }
    }

    /** Appends the parts to the first one, whose file becomes the store's; deletes each part after copying it. */
    private void mergeTokens(List<MegatronPart> filled, long tokenBytes, Progress progress) throws IOException {
        Path merged = staging.resolve(name(".bin"));
        if (filled.isEmpty()) {
            staging.naming(() -> {
                staging.create(name(".bin")).close();
                return null;
            });
        } else {
            staging.naming(() -> Files.move(staging.resolve(filled.getFirst().tokenName()), merged));
        }
        try (FileChannel target = FileChannel.open(merged, StandardOpenOption.WRITE)) {
            target.position(target.size());
            for (MegatronPart part : filled.stream().skip(1).toList()) {
                Path source = staging.resolve(part.tokenName());
                try (FileChannel channel = FileChannel.open(source, StandardOpenOption.READ)) {
                    long size = channel.size();
                    for (long done = 0; done < size; ) {
                        long step = channel.transferTo(done, Math.min(MERGE_STEP_BYTES, size - done), target);
                        if (step <= 0) {
                            throw new IOException(source + " was cut while it was copied");
                        }
                        done += step;
                        progress.update(target.position(), 2 * tokenBytes);
                    }
                }
                Files.delete(source);
            }
            if (target.size() != tokenBytes) {
                throw new IOException(target.size() + " bytes of tokens, expected " + tokenBytes);
            }
            target.force(true);
        } catch (IOException e) {
            throw SpoolFile.failed(file(".bin"), Files.exists(merged) ? Files.size(merged) : 0, e);
        }
    }

    /**
     * {@return the files that {@link #commit} publishes: tokens, index, their checksums, and the description if there
     * is one}
     */
    public synchronized List<Path> files() {
        return Stream.of(".bin", ".idx", ".sha256", ".bin" + BlockChecksums.SUFFIX, ".idx" + BlockChecksums.SUFFIX,
                DESCRIPTION).filter(ending -> description != null || !ending.equals(DESCRIPTION)).map(this::file)
                .toList();
    }

    private void requireAbsent() throws IOException {
        if (ifExists == IfExists.FAIL) {
            StagingFolder.requireAbsent(file(".idx"));   // the file that users know
            for (Path file : files()) {
                StagingFolder.requireAbsent(file);
            }
        }
    }

    private String name(String ending) {
        return prefix.getFileName() + ending;
    }

    private Path file(String ending) {
        return prefix.resolveSibling(name(ending));
    }

    /** Deletes everything that is not committed. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        finished = true;
        for (MegatronPart part : parts) {
            part.discard();
        }
        staging.close();
    }

    /**
     * Sizes and type of a store that a {@link MegatronWriter} has written.
     *
     * @param dtype the stored type of the tokens
     * @param documents the number of documents
     * @param tokens the number of tokens
     * @param tokenSha256 the SHA-256 of the {@code .bin}, 64 hexadecimal digits
     * @param indexBytes the size of the {@code .idx}
     * @param indexSha256 the SHA-256 of the {@code .idx}, 64 hexadecimal digits
     */
    public record MegatronSummary(DType dtype, long documents, long tokens, String tokenSha256, long indexBytes,
            String indexSha256) {
    }
}
