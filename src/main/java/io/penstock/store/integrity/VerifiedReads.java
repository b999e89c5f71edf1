package io.penstock.store.integrity;

import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Which blocks of which files have been found good since they were opened, for all threads that read them together:
 * each block is checked when it is first read, and not again.
 *
 * <p>Two threads that come to a block at the same time both check it; nobody waits. A block that is bad stays
 * unchecked, so that everyone who reads it is told.
 */
public final class VerifiedReads {

    private static final System.Logger LOG = System.getLogger(VerifiedReads.class.getName());
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    /** The blocks of one file. */
    static final class Blocks {

        /** Null if the file has no checksums. */
        final BlockChecksums checksums;
        private final long[] verified;

        Blocks(BlockChecksums checksums) {
            this.checksums = checksums;
            this.verified = new long[checksums == null ? 0 : Math.ceilDiv(checksums.blocks(), Long.SIZE)];
        }

        boolean isVerified(long block) {
            return ((long) WORD.getOpaque(verified, (int) (block / Long.SIZE)) >>> block & 1) != 0;
        }

        void setVerified(long block) {
            WORD.getAndBitwiseOr(verified, (int) (block / Long.SIZE), 1L << block);
        }
    }

    private final ConcurrentHashMap<MappedFile, Blocks> files = new ConcurrentHashMap<>();
    private final LongAdder verifiedBytes = new LongAdder();

    /** Nothing is checked yet. */
    public VerifiedReads() {
    }

    /** The blocks of a file, whose checksums are read when it is first asked for. */
    Blocks of(MappedFile file) {
        Blocks blocks = files.get(file);
        return blocks == null ? files.computeIfAbsent(file, VerifiedReads::read) : blocks;
    }

    private static Blocks read(MappedFile file) {
        try {
            BlockChecksums checksums = BlockChecksums.read(file.location());
            if (checksums == null) {
                LOG.log(System.Logger.Level.DEBUG, "{0}: no {1} beside it, so its blocks are not verified",
                        file.location(), BlockChecksums.SUFFIX);
            } else if (!file.isCurrent()) {
                throw new IOException(file.location()
                        + ": was replaced since it was opened, and its checksums with it");
            } else if (checksums.fileBytes() != file.byteSize()) {
                throw new IOException(checksums.otherSize(file.byteSize()).getMessage());
            }
            return new Blocks(checksums);
        } catch (IOException e) {
            // Not a MalformedStoreException: that would be a bad sample's, and this is the whole file's.
            throw new UncheckedIOException(new IOException(e.getMessage(), e));
        }
    }

    void addVerified(long bytes) {
        verifiedBytes.add(bytes);
    }

    /**
     * Bytes that were checked so far.
     *
     * @return the bytes of all blocks that were found good
     */
    public long verifiedBytes() {
        return verifiedBytes.sum();
    }
}
