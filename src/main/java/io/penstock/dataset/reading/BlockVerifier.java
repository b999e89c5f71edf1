// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Scratch;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.store.integrity.BlockChecksums;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the blocks of a span before it is read, for one thread at a time. It copies each block out of the mapping
 * first: native code computes the checksum and must not touch a page that truncation removed.
 *
 * <p>Owns a little native memory: {@link #close} frees it. Allocates nothing on the heap once it is warm.
 */
public final class BlockVerifier implements AutoCloseable {

    private final VerifiedReads reads;
    private final SpanReader reader;
    private final Span span = new Span();
    private final CRC32C crc = new CRC32C();
    private final Scratch scratch = new Scratch();
    private MemorySegment memory = MemorySegment.NULL;
    private ByteBuffer view = ByteBuffer.allocate(0);
    private @Nullable MappedFile lastFile;
    private VerifiedReads.Blocks lastBlocks = new VerifiedReads.Blocks(null);

    /**
     * Creates a verifier for one thread; {@code reads} has the blocks that all threads have verified. The reader is not
     * owned.
     */
    public BlockVerifier(VerifiedReads reads, SpanReader reader) {
        this.reads = reads;
        this.reader = reader;
    }

    /**
     * Verifies the blocks of a span that no thread has verified yet. Memory, and files without checksums, are not
     * checked.
     *
     * @throws MalformedStoreException if a block is bad; names file and block
     * @throws UncheckedIOException if a block cannot be read
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
        if (memory.byteSize() < bytes) {
            memory = scratch.of(checksums.blockBytes());
            view = memory.asByteBuffer();
        }
        span.set(file, offset, bytes);
        reader.copy(span, memory, 0);
        crc.reset();
        crc.update(view.limit(bytes).position(0));
        checksums.check(block, (int) crc.getValue());
        reads.addVerified(bytes);
    }

    @Override
    public void close() {
        scratch.close();
        memory = MemorySegment.NULL;
    }
}
