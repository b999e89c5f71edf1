// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file that several processes write, with locks of single bytes and removal of ranges. Thread-safe.
 *
 * <p>The locks are <i>open file description locks</i> of Linux ({@code F_OFD_SETLK} of {@code fcntl(2)}): each instance
 * of this class is an owner of its own, even within one process, closing another descriptor of the file releases
 * nothing, and the kernel releases all locks of a process that dies. Locks never conflict with those of the same
 * instance: its threads must agree among themselves.
 *
 * <p>Elsewhere ({@link Posix#AVAILABLE} is false) every lock is granted and no range is removed.
 */
public final class SharedFile implements AutoCloseable {

    private static final int F_OFD_SETLK = 37;
    private static final short F_RDLCK = 0;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;
    private static final int EACCES = 13;
    private static final int EAGAIN = 11;
    /** Keep the size, make a hole. */
    private static final int PUNCH_HOLE = 0x1 | 0x2;

    /** {@code struct flock} of 64-bit Linux. */
    private static final StructLayout FLOCK = MemoryLayout.structLayout(
            JAVA_SHORT.withName("l_type"), JAVA_SHORT.withName("l_whence"), MemoryLayout.paddingLayout(4),
            JAVA_LONG.withName("l_start"), JAVA_LONG.withName("l_len"),
            JAVA_INT.withName("l_pid"), MemoryLayout.paddingLayout(4));
    private static final VarHandle TYPE = FLOCK.varHandle(MemoryLayout.PathElement.groupElement("l_type"));
    private static final VarHandle START = FLOCK.varHandle(MemoryLayout.PathElement.groupElement("l_start"));
    private static final VarHandle LENGTH = FLOCK.varHandle(MemoryLayout.PathElement.groupElement("l_len"));

    /** The functions, looked up on the first call, because only some systems have them. */
    private static final class Calls {

        private static final Linker LINKER = Linker.nativeLinker();
        private static final Linker.Option STATE = Linker.Option.captureCallState("errno");

        static final MethodHandle FCNTL = Posix.bind(LINKER, "fcntl",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), STATE,
                Linker.Option.firstVariadicArg(2));
        static final MethodHandle FALLOCATE = Posix.bind(LINKER, "fallocate",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG), STATE);
    }

    private final Path path;
    /** -1 where there are no locks, and after {@link #close}. */
    private int fd;

    private SharedFile(Path path, int fd) {
        this.path = path;
        this.fd = fd;
    }

    /** Opens an existing file; throws {@link FileSystemException} if it is missing or cannot be written. */
    public static SharedFile open(Path path) throws IOException {
        return new SharedFile(path, Posix.AVAILABLE ? Posix.openReadWrite(path) : -1);
    }

    /**
     * Takes an exclusive lock of a byte, perhaps after the end of the file, without waiting; returns false if another
     * owner has a lock of it. Throws {@link IOException} if the file system has no locks.
     */
    public boolean tryExclusive(long at) throws IOException {
        return set(F_WRLCK, at, 1);
    }

    /**
     * Takes a shared lock of a byte, perhaps after the end of the file, without waiting; returns false if another owner
     * has it exclusively. Throws {@link IOException} if the file system has no locks.
     */
    public boolean tryShared(long at) throws IOException {
        return set(F_RDLCK, at, 1);
    }

    public void release(long at) throws IOException {
        set(F_UNLCK, at, 1);
    }

    /** Releases the locks of {@code count} neighboring bytes; none are left after {@link #close}. */
    public synchronized void release(long at, long count) throws IOException {
        if (fd >= 0) {
            set(F_UNLCK, at, count);
        }
    }

    private synchronized boolean set(short type, long at, long count) throws IOException {
        if (!Posix.AVAILABLE) {
            return true;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment lock = arena.allocate(FLOCK);
            TYPE.set(lock, 0L, type);
            START.set(lock, 0L, at);
            LENGTH.set(lock, 0L, count);
            MemorySegment state = arena.allocate(Posix.CALL_STATE);
            int result;
            do {
                result = (int) Calls.FCNTL.invokeExact(state, opened(), F_OFD_SETLK, lock);
            } while (result < 0 && Posix.errno(state) == Posix.EINTR);
            int errno = result < 0 ? Posix.errno(state) : 0;
            if (errno == 0 || errno == EAGAIN || errno == EACCES) {
                return errno == 0;
            }
            throw new FileSystemException(path.toString(), null, "cannot be locked: " + Posix.message(errno));
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /**
     * Frees the disk space of a range, whose bytes are then 0. Returns false if the file system cannot; the range may
     * then be unchanged.
     */
    public synchronized boolean removeRange(long offset, long bytes) throws IOException {
        if (!Posix.AVAILABLE) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            return (int) Calls.FALLOCATE.invokeExact(arena.allocate(Posix.CALL_STATE), opened(), PUNCH_HOLE, offset,
                    bytes) == 0;
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private int opened() throws IOException {
        if (fd < 0) {
            throw new FileSystemException(path.toString(), null, "was closed");
        }
        return fd;
    }

    /** Tells whether the path still leads to this file; true where that is unknown. */
    public synchronized boolean isCurrent() throws IOException {
        return fd < 0 || Files.exists(path) && Files.isSameFile(path, Path.of("/proc/self/fd/" + fd));
    }

    @Override
    public synchronized void close() {
        if (fd >= 0) {
            Posix.close(fd);
            fd = -1;
        }
    }
}
