package io.penstock.format.megatron;

import io.penstock.format.StagedChecksums;
import io.penstock.io.publish.ChecksumFile;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.memory.DType;
import io.penstock.store.Progress;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes a store in Megatron-LM's format, {@code X.bin} and {@code X.idx}, with the checksums of both in
 * {@code X.sha256}, which {@code sha256sum -c} checks, and those of their {@linkplain BlockChecksums blocks} in
 * {@code X.bin.crc32c} and {@code X.idx.crc32c}.
 *
 * <p>Documents are written in concurrent parts; {@link #commit} concatenates the parts in order of creation and
 * publishes the store. Without a commit nothing remains:
 *
 * <pre>{@code
 * try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, false)) {
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

    private static final long MERGE_STEP_BYTES = 64L << 20;
    /** Megatron's rule: numpy's u16 with some room above the vocabulary. */
    private static final long U16_VOCABULARY_LIMIT = 65_500;

    private final Path prefix;
    private final DType dtype;
    private final boolean overwrite;
    private final long maxSequenceTokens;
    private final StagingFolder staging;
    private final List<MegatronPart> parts = new ArrayList<>();
    private boolean finished;

    private MegatronWriter(Path prefix, DType dtype, boolean overwrite, long maxSequenceTokens) throws IOException {
        this.prefix = prefix;
        this.dtype = dtype;
        this.overwrite = overwrite;
        this.maxSequenceTokens = maxSequenceTokens;
        this.staging = StagingFolder.open(prefix);
    }

    /**
     * Begins a store.
     *
     * @param path the store's name without an ending; {@code .bin} or {@code .idx} at its end is left out
     * @param dtype how tokens are stored: {@code u8}, {@code i8}, {@code u16}, {@code i16}, {@code i32} or
     *     {@code i64}; see {@link #dtypeFor}
     * @param overwrite whether {@link #commit} may replace a store of that name
     * @return the writer, to be closed by the caller
     * @throws FileAlreadyExistsException if there is such a store, or a file that it would replace
     * @throws IOException if the folder does not exist or cannot be written, or the store is being written already
     * @throws IllegalArgumentException if the format has no such tokens
     */
    public static MegatronWriter create(Path path, DType dtype, boolean overwrite) throws IOException {
        return create(path, dtype, overwrite, Integer.MAX_VALUE);
    }

    static MegatronWriter create(Path path, DType dtype, boolean overwrite, long maxSequenceTokens)
            throws IOException {
        if (!dtype.isInteger() || MegatronIndex.codeOf(dtype) == 0) {
            throw new IllegalArgumentException("Megatron's format has no tokens of " + dtype
                    + ", expected u8, i8, u16, i16, i32 or i64");
        }
        Path prefix = path.resolveSibling(MegatronStore.prefix(path.getFileName().toString()));
        MegatronWriter writer = new MegatronWriter(prefix, dtype, overwrite, maxSequenceTokens);
        try {
            writer.requireAbsent();
            return writer;
        } catch (IOException | RuntimeException e) {
            writer.close();
            throw e;
        }
    }

    /**
     * The dtype that Megatron stores the tokens of a vocabulary in.
     *
     * @param vocabularySize one more than the greatest token
     * @return {@code u16} below 65,500, otherwise {@code i32}
     */
    public static DType dtypeFor(long vocabularySize) {
        return vocabularySize < U16_VOCABULARY_LIMIT ? DType.U16 : DType.I32;
    }

    /**
     * Begins the next part: its documents come behind those of the parts before. May be called by any thread.
     *
     * @return the part, for one thread; to be closed by the caller, or by {@link #commit}
     */
    public synchronized MegatronPart part() {
        if (finished) {
            throw new IllegalStateException(prefix + ": the writer is committed or closed");
        }
        MegatronPart part = new MegatronPart(parts.size(), dtype, file(".bin"), staging, maxSequenceTokens);
        parts.add(part);
        return part;
    }

    /**
     * Makes the store visible, whole and flushed to the disk, once all parts are written. The writer is closed then,
     * also if this fails.
     *
     * @throws IOException if a part failed, a file cannot be written, or a store of that name has
     *     appeared; then nothing is visible
     * @throws IllegalStateException if a part has tokens behind its last {@link MegatronPart#endDocument}
     */
    public void commit() throws IOException {
        commit(Progress.NONE);
    }

    /**
     * Makes the store visible, whole and flushed to the disk, once all parts are written, and tells how far it is.
     * The writer is closed then, also if this fails.
     *
     * @param progress told the bytes that are merged and checksummed
     * @throws IOException if a part failed, a file cannot be written, or a store of that name has
     *     appeared; then nothing is visible
     * @throws IllegalStateException if a part has tokens behind its last {@link MegatronPart#endDocument}
     */
    public synchronized void commit(Progress progress) throws IOException {
        if (finished) {
            throw new IllegalStateException(prefix + ": the writer is committed or closed");
        }
        finished = true;
        try (this) {
            checkParts();
            List<MegatronPart> filled = parts.stream().filter(part -> part.sequences() > 0).toList();
            long tokenBytes = filled.stream().mapToLong(MegatronPart::tokens).sum() * dtype.byteSize();
            requireAbsent();
            new MegatronIndexFile(staging, filled).write(name(".idx"), file(".idx"), dtype);
            mergeTokens(filled, tokenBytes, progress);
            new ChecksumFile(staging).write(name(".sha256"), List.of(name(".bin"), name(".idx")),
                    done -> progress.update(Math.min(tokenBytes + done, 2 * tokenBytes), 2 * tokenBytes));
            String tokenBlocks = StagedChecksums.write(staging, name(".bin"));
            String indexBlocks = StagedChecksums.write(staging, name(".idx"));
            requireAbsent();
            staging.publish(List.of(name(".bin"), name(".idx"), tokenBlocks, indexBlocks, name(".sha256")));
        }
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
                        + " tokens behind the end of its last document");
            }
        }
    }

    /** Puts the parts behind the first one, whose file becomes the store's; each is gone once it is copied. */
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

    private void requireAbsent() throws IOException {
        if (!overwrite) {
            for (String ending : List.of(".idx", ".bin", ".sha256", ".bin" + BlockChecksums.SUFFIX,
                    ".idx" + BlockChecksums.SUFFIX)) {
                StagingFolder.requireAbsent(file(ending));
            }
        }
    }

    private String name(String ending) {
        return prefix.getFileName() + ending;
    }

    private Path file(String ending) {
        return prefix.resolveSibling(name(ending));
    }

    /** Removes everything that is not committed. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        finished = true;
        for (MegatronPart part : parts) {
            part.discard();
        }
        staging.close();
    }
}
