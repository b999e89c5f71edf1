package io.penstock.store.integrity;

import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Checks the blocks that a span is in before it is read, for one thread at a time. A block is copied out of the
 * mapping to be checked: the checksum is computed by native code, which must not meet a page that is gone.
 *
 * <p>Owns a little native memory: {@link #close} frees it. Allocates nothing on the heap once it is warm.
 */
public final class BlockVerifier implements AutoCloseable {

    private final VerifiedReads reads;
    private final SpanReader reader;
    private final Span span = new Span();
    private final CRC32C crc = new CRC32C();
    private Arena arena;
    private MemorySegment scratch = MemorySegment.NULL;
    private ByteBuffer view;
    private MappedFile lastFile;
    private VerifiedReads.Blocks lastBlocks;

    /**
     * A verifier for one thread.
     *
     * @param reads what all threads have checked
     * @param reader brings blocks in; of the same thread, not owned
     */
    public BlockVerifier(VerifiedReads reads, SpanReader reader) {
        this.reads = reads;
        this.reader = reader;
    }

    /**
     * Checks the blocks of a span that nobody has checked yet.
     *
     * @param checked bytes that are to be read; those in memory, and of files without checksums, are taken as they are
     * @throws UncheckedIOException if a block is bad, with a {@link io.penstock.io.MalformedStoreException} that
     *     names file and block; or if it cannot be read
     */
    public void check(Span checked) {
        MappedFile file = checked.file();
        if (file == null || checked.byteSize() == 0) {
            return;
        }
        if (file != lastFile) {
            lastBlocks = reads.of(file);
            lastFile = file;
        }
        BlockChecksums checksums = lastBlocks.checksums;
        if (checksums == null) {
            return;
        }
        long last = (checked.byteOffset() + checked.byteSize() - 1) / checksums.blockBytes();
        for (long block = checked.byteOffset() / checksums.blockBytes(); block <= last; block++) {
            if (!lastBlocks.isVerified(block)) {
                check(file, checksums, block);
                lastBlocks.setVerified(block);
            }
        }
    }

    private void check(MappedFile file, BlockChecksums checksums, long block) {
        long offset = block * checksums.blockBytes();
        int bytes = (int) Math.min(checksums.blockBytes(), file.byteSize() - offset);
        if (scratch.byteSize() < bytes) {
            grow(checksums.blockBytes());
        }
        span.set(file, offset, bytes);
        reader.copy(span, scratch, 0);
        crc.reset();
        crc.update(view.limit(bytes).position(0));
        if ((int) crc.getValue() != checksums.crc(block)) {
            throw new UncheckedIOException(checksums.otherCrc(block, (int) crc.getValue()));
        }
        reads.addVerified(bytes);
    }

    private void grow(int bytes) {
        close();
        arena = Arena.ofShared();
        scratch = arena.allocate(bytes, Long.BYTES);
        view = scratch.asByteBuffer();
    }

    /** Frees the native memory. Calling it again does nothing. */
    @Override
    public void close() {
        if (arena != null) {
            arena.close();
            arena = null;
            scratch = MemorySegment.NULL;
        }
    }
}
