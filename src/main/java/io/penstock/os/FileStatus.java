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
 * What the OS says of a file that is open: by what one that was written to is told from one that was not.
 *
 * <p>Writing, by call or through a mapping, sets the modification time and the change time. A tool may set the first
 * back, the second nobody can. Changing the mode, the owner, the times, other attributes or the number of names sets
 * the change time alone, and is done to files that are in use: by itself it says nothing of the bytes.
 *
 * @param byteSize the file's size
 * @param modifiedNanos when its bytes were changed last, in nanoseconds since 1970; wraps around for absurd times
 * @param changedNanos when its bytes or anything else of it were changed last; 0 where the OS does not tell
 * @param key what file it is, where a path is looked at; otherwise null
 */
public record FileStatus(long byteSize, long modifiedNanos, long changedNanos, @Nullable Object key) {

    /**
     * Of a descriptor's file, whatever its name leads to now; of the path's file if there is no descriptor.
     *
     * @param fd the descriptor, or -1
     * @return null if the OS does not tell
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

    /** Whether both are of one file: the path may lead to another now, which does the open one no harm. */
    public boolean isOfSameFile(FileStatus other) {
        return Objects.equals(key, other.key);
    }

    public boolean isWrittenSince(FileStatus before) {
        return byteSize != before.byteSize || modifiedNanos != before.modifiedNanos;
    }

    /** Whether anything of the file was changed, its bytes perhaps: the modification time may have been set back. */
    public boolean isTouchedSince(FileStatus before) {
        return changedNanos != before.changedNanos;
    }
}
