// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The status of an open file, which tells whether the file was written to since.
 *
 * <p>Writing, by a call or through a mapping, sets the modification time and the change time. A tool can set the first
 * back, but not the second. Changing the mode, the owner, the times, other attributes or the number of names sets only
 * the change time, and happens to files in use: by itself it does not mean that bytes changed.
 *
 * @param modifiedNanos the time of the last write, in nanoseconds since 1970; wraps around for absurd times
 * @param changedNanos the time of the last change of any kind; 0 if the OS does not tell
 * @param key identifies the file if the status is that of a path; otherwise null
 */
public record FileStatus(long byteSize, long modifiedNanos, long changedNanos, @Nullable Object key) {

    /**
     * Returns the status of a descriptor's file, whatever its name leads to now; of the path's file if the descriptor
     * is -1. Null if the OS does not tell.
     */
    public static @Nullable FileStatus of(int fd, Path path) {
        FileStatus status = fd >= 0 ? Posix.status(fd) : null;
        if (status != null) {
            return status;
        }
        try {
            BasicFileAttributes basic = Files.readAttributes(fd >= 0 ? Path.of("/proc/self/fd/" + fd) : path,
                    BasicFileAttributes.class);
            return new FileStatus(basic.size(), basic.lastModifiedTime().to(TimeUnit.NANOSECONDS), 0,
                    fd >= 0 ? null : basic.fileKey());
        } catch (IOException _) {
            return null;
        }
    }

    /** Tells whether both are of one file: the path may lead to another now, which does not affect the open one. */
    public boolean isOfSameFile(FileStatus other) {
        return Objects.equals(key, other.key);
    }

    public boolean isWrittenSince(FileStatus before) {
        return byteSize != before.byteSize || modifiedNanos != before.modifiedNanos;
    }

    /** Tells whether anything of the file changed, perhaps its bytes: the modification time may have been set back. */
    public boolean isTouchedSince(FileStatus before) {
        return changedNanos != before.changedNanos;
    }
}
