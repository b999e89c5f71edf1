// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.io.local.RegularFile;
import io.penstock.os.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * The pages of one mapping as the operating system holds them: which of them are in memory, what it is advised about
 * them, and reads in native code, where a page that is not in memory delays no safepoint. Owns the file's descriptor.
 */
final class PageCache {

    private static final int SAMPLES = 64;
    /** One page in 64 may be missing: faulting more of them in costs more than reading the others by call. */
    private static final double WARM_SHARE = 0.98;

    private final MemorySegment mapping;
    private final Path path;
    private int fd;                             // -1: there is none
    /** The kernel's read-ahead in bytes; -1 until first asked. */
    private volatile long kernelReadAhead = -1;

    PageCache(MemorySegment mapping, Path path, int fd) {
        this.mapping = mapping;
        this.path = path;
        this.fd = fd;
    }

    /** Tells whether nearly all pages are resident. */
    boolean isWarm() {
        return share(SAMPLES) >= WARM_SHARE;
    }

    /** Returns the share of resident pages, from one page at random of each of {@code samples} equal parts. */
    double share(int samples) {
        if (!Posix.AVAILABLE || mapping.byteSize() == 0) {
            return 1;
        }
        var random = new SplittableRandom(System.nanoTime());
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment flag = scratch.allocate(JAVA_BYTE);
            int resident = 0;
            for (int i = 0; i < samples; i++) {
                long at = (long) ((i + random.nextDouble()) / samples * mapping.byteSize());
                resident += has(Math.min(at, mapping.byteSize() - 1), flag) ? 1 : 0;
            }
            return (double) resident / samples;
        }
    }

    /** Tells whether the page of a byte is resident; true if the OS cannot tell. */
    boolean has(long offset) {
        if (!Posix.AVAILABLE) {
            return true;
        }
        try (Arena scratch = Arena.ofConfined()) {
            return has(offset, scratch.allocate(JAVA_BYTE));
        }
    }

    private boolean has(long offset, MemorySegment flag) {
        return Posix.isResident(mapping.asSlice(offset & -Posix.pageBytes(), 1), flag);
    }

    /** Advises the OS about the pages of a range; tells whether it took the advice. */
    boolean advise(Advice advice, long offset, long bytes) {
        if (!Posix.AVAILABLE || bytes == 0) {
            return false;
        }
        long pageStart = offset & -Posix.pageBytes();
        MemorySegment pages = mapping.asSlice(pageStart, offset + bytes - pageStart);
        boolean taken = Posix.madvise(pages, advice.madvise);
        if (fd >= 0 && advice.fadvise >= 0 && advice != Advice.WILL_NEED) {
            taken |= Posix.fadvise(fd, pageStart, pages.byteSize(), advice.fadvise);
        }
        return taken;
    }

    /** Starts reading whole pages; a hint, whose end may be after the file's. */
    void willNeed(long pageOffset, long bytes) {
        if (fd >= 0) {
            Posix.fadvise(fd, pageOffset, bytes, Advice.WILL_NEED.fadvise);
        } else if (pageOffset < mapping.byteSize()) {
            Posix.madvise(mapping.asSlice(pageOffset, Math.min(bytes, mapping.byteSize() - pageOffset)),
                    Advice.WILL_NEED.madvise);
        }
    }

    /** Returns how many bytes the kernel reads ahead in sequential reads, a setting of the device; 0 if unknown. */
    long kernelReadAhead() {
        if (kernelReadAhead < 0) {
            kernelReadAhead = kernelReadAhead(RegularFile.sameFile(path, fd));
        }
        return kernelReadAhead;
    }

    private static long kernelReadAhead(Path file) {
        try {
            long device = ((Number) Files.getAttribute(file, "unix:dev")).longValue();
            String number = major(device) + ":" + minor(device);
            return Long.parseLong(Files.readString(Path.of("/sys/class/bdi", number, "read_ahead_kb")).strip()) << 10;
        } catch (IOException | RuntimeException _) {
            return 0;
        }
    }

    /** Same as {@code gnu_dev_major} of the C library. */
    private static long major(long device) {
        return device >>> 8 & 0xFFF | device >>> 32 & ~0xFFFL;
    }

    private static long minor(long device) {
        return device & 0xFF | device >>> 12 & 0xFFFFFF00L;
    }

    /**
     * Copies bytes that are present, by {@code pread(2)} if there is a descriptor; otherwise populates the pages first.
     */
    void read(MappedFile file, long offset, MemorySegment target, long targetOffset, long bytes) {
        if (fd < 0) {
            advise(Advice.POPULATE_READ, offset, bytes);
            copyMapped(file, offset, target, targetOffset, bytes);
            return;
        }
        long read = Posix.pread(fd, offset, target, targetOffset, bytes);
        if (read < bytes) {
            readRest(file, Math.max(read, 0), read, offset, target, targetOffset, bytes);
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
    private void readRest(MappedFile file, long done, long last, long offset, MemorySegment target,
            long targetOffset, long bytes) {
        while (done < bytes) {
            if (last == 0 || last < 0 && last != -Posix.EINTR) {
                file.checkUnchanged();
                throw new UncheckedIOException(new IOException(file.location() + ": read failed at byte "
                        + (offset + done) + (last == 0 ? ": unexpected end of file"
                                : ": " + Posix.message((int) -last))));
            }
            last = Posix.pread(fd, offset + done, target, targetOffset + done, bytes - done);
            done += Math.max(last, 0);
        }
    }

    /** Closes the descriptor: from now on reads go through the mapping. Calling it again does nothing. */
    void releaseDescriptor() {
        if (fd >= 0) {
            Posix.close(fd);
            fd = -1;
        }
    }
}
