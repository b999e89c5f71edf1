// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.os.FileStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
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
}
