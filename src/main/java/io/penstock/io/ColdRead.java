// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.os.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/** Copies bytes of a file that may not be in memory, and waits for them in native code. */
final class ColdRead {

    /**
     * Copies bytes of a file, by {@code pread(2)} if it has a descriptor, otherwise -1. The {@link Posix#CALL_STATE}
     * segment must be the thread's own.
     */
    static void copy(MappedFile file, int fd, long offset, MemorySegment target, long targetOffset, long bytes,
            MemorySegment callState) {
        if (fd < 0) {
            file.advise(Advice.POPULATE_READ, offset, bytes);
            copyMapped(file, offset, target, targetOffset, bytes);
            return;
        }
        long read = Posix.pread(callState, fd, offset, target, targetOffset, bytes);
        if (read < bytes) {
            readRest(file, fd, Math.max(read, 0), read, offset, target, targetOffset, bytes, callState);
        }
    }

    /** Copies bytes through the mapping; if a page is missing because the file changed, the error names the file. */
    static void copyMapped(MappedFile file, long offset, MemorySegment target, long targetOffset, long bytes) {
        try {
            MemorySegment.copy(file.mapping(), offset, target, targetOffset, bytes);
        } catch (InternalError fault) {
            throw file.explain(fault);
        }
    }

    /** Continues after a short first read: a signal, the end of the file, or an error. */
    private static void readRest(MappedFile file, int fd, long done, long last, long offset, MemorySegment target,
            long targetOffset, long bytes, MemorySegment callState) {
        while (done < bytes) {
            if (last == 0 || last < 0 && last != -Posix.EINTR) {
                file.checkUnchanged();
                throw new UncheckedIOException(new IOException(file.location() + ": read failed at byte "
                        + (offset + done) + (last == 0 ? ": unexpected end of file"
                                : ": " + Posix.message((int) -last))));
            }
            last = Posix.pread(callState, fd, offset + done, target, targetOffset + done, bytes - done);
            done += Math.max(last, 0);
        }
    }
}
