// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.error.PenstockException;
import io.penstock.io.MappedFile;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The blocks verified since their files were opened, shared by all reading threads: each block is verified once, on its
 * first read.
 *
 * <p>Two threads that reach a block at the same time both verify it; neither waits. A bad block stays unverified, so
 * every read of it fails.
 */
public final class VerifiedReads {

    private static final System.Logger LOG = System.getLogger(VerifiedReads.class.getName());
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    static final class Blocks {

        final @Nullable BlockChecksums checksums;
        private final long[] verified;

        Blocks(@Nullable BlockChecksums checksums) {
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

    /** Returns the blocks of a file; the first call reads its checksums. */
    Blocks of(MappedFile file) {
        Blocks blocks = files.get(file);
        return blocks == null ? files.computeIfAbsent(file, VerifiedReads::read) : blocks;
    }

    private static Blocks read(MappedFile file) {
        try {
            BlockChecksums checksums = BlockChecksums.read(file.location());
            if (checksums == null) {
                LOG.log(System.Logger.Level.DEBUG, "{0}: no sidecar {1}, so its blocks are not verified",
                        file.location(), BlockChecksums.SUFFIX);
            } else if (!file.isCurrent()) {
                throw new IOException(file.location() + ": was replaced since it was opened, with its checksums");
            } else {
                checksums.checkSize(file.byteSize());
            }
            return new Blocks(checksums);
        } catch (IOException | PenstockException e) {
            // Not a MalformedStoreException: that means a bad sample, and this is the whole file.
            throw new UncheckedIOException(new IOException(e.getMessage(), e));
        }
    }

    void addVerified(long bytes) {
        verifiedBytes.add(bytes);
    }

    /** {@return the bytes verified so far, of good blocks} */
    public long verifiedBytes() {
        return verifiedBytes.sum();
    }
}
