// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The C library's calls on files and mappings, bound once. On an OS other than 64-bit Linux {@link #AVAILABLE} is false
 * and nothing is bound: advice then does nothing, and reads go through the mapping.
 *
 * <p>None of the calls is {@code critical}: each may block, and a blocked critical call would hold up every safepoint.
 */
public final class Posix {

    /** {@code off}: as where the OS lacks the calls. Set by the launcher for commands that binding them would delay. */
    private static final String PROPERTY = "penstock.posix";

    /** Whether this OS has the calls, with the constants of this class. */
    public static final boolean AVAILABLE = System.getProperty("os.name").toLowerCase(Locale.ROOT).equals("linux")
            && ADDRESS.byteSize() == 8 && !System.getProperty(PROPERTY, "on").equals("off");

    private static final int O_RDONLY = 0;
    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x80000;
    /** Opening a FIFO does not wait for its other end; regular files ignore it. */
    private static final int O_NONBLOCK = 0x800;
    private static final int ENOENT = 2;
    private static final int EACCES = 13;
    /** What {@link #pread} returns, negated, if a signal interrupted it. */
    public static final int EINTR = 4;
    private static final int SC_PAGESIZE = 30;
    private static final int MAX_MESSAGE_BYTES = 1024;
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    /** Private, anonymous, not counted as memory promised to the process. */
    private static final int MAP_PAGES = 0x2 | 0x20 | 0x4000;
    private static final int MAP_FIXED = 0x10;
    private static final int PROT_READ = 1;
    private static final int MAP_SHARED = 1;
    private static final int MADV_DONTNEED = 4;
    private static final int MADV_HUGEPAGE = 14;
    private static final int MADV_NOHUGEPAGE = 15;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_BASIC_STATS = 0x7FF;

    private static final long NANOS = 1_000_000_000;

    /** The layout of {@code errno}; a call that may fail is given a segment of it. */
    static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();

    private static final Linker.Option STATE = Linker.Option.captureCallState("errno");

    // Functions are bound on the first call, because only some systems have them, and in groups, because binding all
    // takes a short command longer than what it does.

    /** Where fields of structures are. */
    private static final class Offsets {

        /** The used fields of {@code struct statx} of {@code linux/stat.h}, the same on every processor. */
        static final StructLayout STATUS = MemoryLayout.structLayout(
                MemoryLayout.paddingLayout(40), JAVA_LONG.withName("stx_size"), MemoryLayout.paddingLayout(48),
                JAVA_LONG.withName("stx_ctime"), JAVA_INT.withName("stx_ctime_nsec"), MemoryLayout.paddingLayout(4),
                JAVA_LONG.withName("stx_mtime"), JAVA_INT.withName("stx_mtime_nsec"), MemoryLayout.paddingLayout(132));
        static final long SIZE = offset(STATUS, "stx_size");
        static final long CTIME = offset(STATUS, "stx_ctime");
        static final long CTIME_NSEC = offset(STATUS, "stx_ctime_nsec");
        static final long MTIME = offset(STATUS, "stx_mtime");
        static final long MTIME_NSEC = offset(STATUS, "stx_mtime_nsec");
        static final long ERRNO = offset(CALL_STATE, "errno");

        private static long offset(StructLayout layout, String field) {
            return layout.byteOffset(MemoryLayout.PathElement.groupElement(field));
        }
    }

    private static final class Files {

        static final MethodHandle OPEN = bind("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), STATE,
                Linker.Option.firstVariadicArg(2));
        static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        /** Null if the C library has no such call. */
        static final @Nullable MethodHandle STATX = Linker.nativeLinker().defaultLookup().find("statx").isEmpty() ? null
                : bind("statx", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
    }

    private static final class Reads {

        static final FunctionDescriptor PREAD_TYPE =
                FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        /** Without {@code errno}: the linker slices its segment, which is an object a call if that is not inlined. */
        static final MethodHandle PREAD = bind("pread", PREAD_TYPE);
        static final MethodHandle FADVISE = bind("posix_fadvise",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
        static final MethodHandle MINCORE = bind("mincore",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));
    }

    private static final class FailedReads {

        static final MethodHandle PREAD = bind("pread", Reads.PREAD_TYPE, STATE);
    }

    private static final class Mappings {

        static final MethodHandle MMAP = bind("mmap",
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG), STATE);
        static final MethodHandle MUNMAP = bind("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    }

    private static final class Advice {

        static final MethodHandle MADVISE = bind("madvise",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    }

    private static final class Messages {

        static final MethodHandle STRERROR = bind("strerror", FunctionDescriptor.of(ADDRESS, JAVA_INT));
    }

    private static final class Page {

        static final long BYTES = AVAILABLE ? bytes() : 4096;

        private static long bytes() {
            try {
                return (long) bind("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT)).invokeExact(SC_PAGESIZE);
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }
    }

    private static MethodHandle bind(String name, FunctionDescriptor type, Linker.Option... options) {
        return bind(Linker.nativeLinker(), name, type, options);
    }

    @SuppressWarnings("restricted")
    static MethodHandle bind(Linker linker, String name, FunctionDescriptor type, Linker.Option... options) {
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
    }

    /** {@return the size of a page; 4096 if it is unknown} */
    public static long pageBytes() {
        return Page.BYTES;
    }

    /** Opens a file for reading, without waiting; returns the descriptor. */
    public static int openReadOnly(Path path) throws IOException {
        return open(path, O_RDONLY);
    }

    /** Opens an existing file for reading and writing, without waiting; returns the descriptor. */
    static int openReadWrite(Path path) throws IOException {
        return open(path, O_RDWR);
    }

    private static int open(Path path, int mode) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            byte[] name = PathBytes.of(path);
            MemorySegment text = arena.allocate(name.length + 1L).copyFrom(MemorySegment.ofArray(name));
            int fd = (int) Files.OPEN.invokeExact(state, text,
                    mode | O_CLOEXEC | O_NONBLOCK);
            if (fd < 0) {
                throw openFailure(path, errno(state));
            }
            return fd;
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private static FileSystemException openFailure(Path path, int errno) {
        return switch (errno) {
            case ENOENT -> new NoSuchFileException(path.toString(), null, "no such file");
            case EACCES -> new AccessDeniedException(path.toString(), null, "permission denied");
            default -> new FileSystemException(path.toString(), null, "cannot be opened: " + message(errno));
        };
    }

    /** Returns the OS's text for an error number. */
    @SuppressWarnings("restricted")
    public static String message(int errno) {
        try {
            MemorySegment text = (MemorySegment) Messages.STRERROR.invokeExact(errno);
            return text.reinterpret(MAX_MESSAGE_BYTES).getString(0);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    public static void close(int fd) {
        try {
            int _ = (int) Files.CLOSE.invokeExact(fd);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Returns the status of an open file; null if the OS does not tell. */
    public static @Nullable FileStatus status(int fd) {
        if (!AVAILABLE || Files.STATX == null) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(Offsets.STATUS);
            if ((int) Files.STATX.invokeExact(fd, arena.allocateFrom(""), AT_EMPTY_PATH, STATX_BASIC_STATS,
                    status) != 0) {
                return null;
            }
            return new FileStatus(status.get(JAVA_LONG, Offsets.SIZE),
                    status.get(JAVA_LONG, Offsets.MTIME) * NANOS + status.get(JAVA_INT, Offsets.MTIME_NSEC),
                    status.get(JAVA_LONG, Offsets.CTIME) * NANOS + status.get(JAVA_INT, Offsets.CTIME_NSEC), null);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /**
     * Reads once at an offset of a file, again if that fails; returns the bytes read, 0 at the end of the file, or
     * {@code -errno}. The target is passed as a number, because a slice would be an object per sample, which the JIT
     * compiler does not always remove. So its owner must keep it alive during the call.
     */
    public static long pread(int fd, long fileOffset, MemorySegment target, long targetOffset, long bytes) {
        Objects.checkFromIndexSize(targetOffset, bytes, target.byteSize());
        if (!target.isNative() || target.isReadOnly() || !target.scope().isAlive()) {
            throw new IllegalArgumentException("read into " + target + ": expected native memory, writable and alive");
        }
        try {
            long read = (long) Reads.PREAD.invokeExact(fd, target.address() + targetOffset, bytes, fileOffset);
            return read >= 0 ? read : preadAgain(fd, fileOffset, target.address() + targetOffset, bytes);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Repeats a read that failed, to learn why. */
    private static long preadAgain(int fd, long fileOffset, long address, long bytes) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            long read = (long) FailedReads.PREAD.invokeExact(state, fd, address, bytes, fileOffset);
            return read >= 0 ? read : -errno(state);
        }
    }

    /**
     * Maps zeroed pages, which take memory when they are written; only {@link #sealPages}, {@link #dropPages},
     * {@link #unmapPages} and the end of the process free them.
     *
     * @throws OutOfMemoryError if the OS has no pages
     */
    @SuppressWarnings("restricted")
    public static MemorySegment mapPages(long bytes) {
        long address = map(0, bytes, PROT_READ_WRITE, 0);
        if (address < 0) {
            throw new OutOfMemoryError("cannot map " + bytes + " bytes: " + message((int) -address));
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /**
     * Frees the memory of mapped pages but keeps their addresses: access then faults. Returns false if the OS refuses;
     * the pages are then unchanged.
     */
    public static boolean sealPages(MemorySegment pages) {
        return map(pages.address(), pages.byteSize(), PROT_NONE, MAP_FIXED) >= 0;
    }

    /** Frees the memory of mapped pages, which are zeros from then on. */
    public static boolean dropPages(MemorySegment pages) {
        return madvise(pages, MADV_DONTNEED);
    }

    /**
     * Gives memory to mapped pages, as large pages if the OS has some; a hint. Later the OS joins no pages of them: it
     * would give memory back to those that were {@linkplain #dropPages dropped}.
     */
    public static void populateLarge(MemorySegment pages) {
        boolean isTaken = madvise(pages, MADV_HUGEPAGE);
        if (isTaken) {
            pages.set(JAVA_BYTE, 0, (byte) 0);
        }
        boolean _ = madvise(pages, MADV_NOHUGEPAGE);
    }

    /** Replaces mapped pages by those of a file, read-only. Returns false, and changes nothing, if the OS refuses. */
    public static boolean replacePages(MemorySegment pages, int fd, long fileOffset) {
        return map(pages.address(), pages.byteSize(), PROT_READ, MAP_SHARED | MAP_FIXED, fd, fileOffset) >= 0;
    }

    /** Frees mapped pages and their addresses, which nobody may use any more. */
    public static void unmapPages(long address, long bytes) {
        try {
            int _ = (int) Mappings.MUNMAP.invokeExact(address, bytes);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private static long map(long address, long bytes, int protection, int flags) {
        return map(address, bytes, protection, MAP_PAGES | flags, -1, 0);
    }

    /** Returns the address, or {@code -errno}. */
    private static long map(long address, long bytes, int protection, int flags, int fd, long fileOffset) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            long mapped = (long) Mappings.MMAP.invokeExact(state, address, bytes, protection, flags, fd, fileOffset);
            return mapped == -1 ? -errno(state) : mapped;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Returns whether the OS took the advice. The address must be at a page's start. */
    public static boolean madvise(MemorySegment range, int advice) {
        try {
            return (int) Advice.MADVISE.invokeExact(range, range.byteSize(), advice) == 0;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    public static boolean fadvise(int fd, long offset, long bytes, int advice) {
        try {
            return (int) Reads.FADVISE.invokeExact(fd, offset, bytes, advice) == 0;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Tells whether the page at a segment's start is in memory. The address must be at a page's start. */
    public static boolean isResident(MemorySegment page, MemorySegment oneByte) {
        try {
            return (int) Reads.MINCORE.invokeExact(page, page.byteSize(), oneByte) == 0
                    && (oneByte.get(JAVA_BYTE, 0) & 1) == 1;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static int errno(MemorySegment state) {
        return state.get(JAVA_INT, Offsets.ERRNO);
    }
}
