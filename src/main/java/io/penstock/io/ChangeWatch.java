// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.os.FileStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Instant;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Detects changes of an open local file. Thread-safe. */
final class ChangeWatch {

    private static final System.Logger LOG = System.getLogger(MappedFile.class.getName());

    private final MappedFile file;
    private final int fd;
    private final Path path;
    private final ContentSample sample;
    /** Null if the OS gives none, or the file is not watched. Guarded by the monitor. */
    private @Nullable FileStatus status;
    private boolean closed;
    private volatile @Nullable String change;

    ChangeWatch(MappedFile file, int fd, Path path, @Nullable FileStatus status) {
        this.file = file;
        this.fd = fd;
        this.path = path;
        this.status = status;
        this.sample = new ContentSample(file);
    }

    /** A watch without the descriptor; none if the path leads to another file by now. */
    synchronized ChangeWatch byPath() {
        FileStatus before = status;
        FileStatus now = FileStatus.of(-1, path);
        boolean isSame = before != null && now != null && !now.isWrittenSince(before);
        return new ChangeWatch(file, -1, path, isSame ? now : null);
    }

    boolean isChanged() {
        return change != null;
    }

    void check() {
        if (change == null) {
            look();
        }
        if (change != null) {
            throw new UncheckedIOException(new IOException(file.location() + ": " + change));
        }
    }

    private synchronized void look() {
        if (status == null || closed) {
            return;
        }
        FileStatus now = FileStatus.of(fd, path);
        if (now == null || !now.isOfSameFile(status)) {
            return;
        }
        if (now.byteSize() < file.byteSize()) {
            change = "the file shrank while it was open: " + now.byteSize() + " bytes, expected " + file.byteSize();
        } else if (now.isWrittenSince(status)) {
            change = "the file was written to while it was open: " + now.byteSize() + " bytes, modified "
                    + time(now.modifiedNanos()) + ", expected " + status.byteSize() + " bytes, modified "
                    + time(status.modifiedNanos());
        } else if (now.isTouchedSince(status)) {
            long at = sample.firstChanged();
            if (at >= 0) {
                change = "the file was written to while it was open, and its modification time set back: at byte " + at
                        + ": different bytes, changed " + time(now.changedNanos()) + ", expected "
                        + time(status.changedNanos());
            } else {
                LOG.log(System.Logger.Level.DEBUG, "{0}: the file's attributes or names changed while it was"
                        + " open; its sampled bytes are the same", file.location());
                status = now;
            }
        }
    }

    private static Instant time(long nanos) {
        return Instant.EPOCH.plusNanos(nanos);
    }

    /** Samples more blocks of a file that is unchanged before and after. */
    synchronized void extendSample() {
        if (status == null) {
            return;
        }
        long before = sample.taken();
        sample.extend();
        FileStatus now = sample.taken() == before ? status : FileStatus.of(fd, path);
        if (now != null && (now.isWrittenSince(status) || now.isTouchedSince(status))) {
            sample.forget(before);
        }
    }

    /** Stops all checks: the descriptor is closed. */
    synchronized void close() {
        closed = true;
    }

    /**
     * Checksums of blocks spread over a mapped file, to detect changed bytes. Samples only blocks in the page cache:
     * more and more as the file is read. One thread at a time.
     */
    static final class ContentSample {

        private static final int BLOCKS = 64;
        private static final long BLOCK_BYTES = 4096;
        /** Few, so a look takes little time and heap. */
        private static final int BLOCKS_A_LOOK = 8;

        private final MappedFile file;
        private final long stride;
        private final int[] checksums = new int[BLOCKS];
        /** One bit per block: whether it was sampled. */
        private long taken;
        /** The next block to look at. */
        private int next;

        ContentSample(MappedFile file) {
            this.file = file;
            this.stride = Math.max(BLOCK_BYTES, file.byteSize() / BLOCKS & -BLOCK_BYTES);
        }

        /** Samples some more blocks that are in the page cache. */
        void extend() {
            for (int look = 0; look < BLOCKS_A_LOOK; look++, next = (next + 1) % BLOCKS) {
                if ((taken >>> next & 1) == 0 && has(next) && file.isResident(next * stride)) {
                    checksums[next] = checksum(next);
                    taken |= 1L << next;
                }
            }
        }

        /** Returns the state to pass to {@link #forget}. */
        long taken() {
            return taken;
        }

        /** Forgets the blocks sampled since. */
        void forget(long takenThen) {
            taken = takenThen;
        }

        /** Returns the first byte of a block that changed since it was sampled; -1 if none did. */
        long firstChanged() {
            for (int block = 0; block < BLOCKS; block++) {
                if ((taken >>> block & 1) != 0 && checksum(block) != checksums[block]) {
                    return block * stride;
                }
            }
            return -1;
        }

        private boolean has(int block) {
            return block * stride < file.byteSize();
        }

        /** Computes it of a copy: the JVM's checksums are native code, where a page that is gone kills the process. */
        private int checksum(int block) {
            long offset = block * stride;
            byte[] copy = new byte[(int) Math.min(BLOCK_BYTES, file.byteSize() - offset)];
            MemorySegment.copy(file.mapping(), ValueLayout.JAVA_BYTE, offset, copy, 0, copy.length);
            var crc = new CRC32C();
            crc.update(copy);
            return (int) crc.getValue();
        }
    }
}
