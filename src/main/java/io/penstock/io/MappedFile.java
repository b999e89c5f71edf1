package io.penstock.io;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.memory.Leak;
import io.penstock.os.FileStatus;
import io.penstock.os.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * A file mapped whole and read-only, as one segment of whatever size, with the calls that bring its bytes in without
 * a page fault in Java code.
 *
 * <p><b>Threads.</b> Any number may read. {@link #close} must come when none does: a reader that comes later gets an
 * {@link IllegalStateException}, never another file's bytes.
 *
 * <p><b>A file that shrinks.</b> Another process may truncate the file. Touching a page that is gone raises an
 * {@link InternalError} in the JVM, not a crash, as long as it is Java code that touches it; {@link #checkUnchanged}
 * turns that into an error which names the file. Memory of a mapped file is therefore never handed to native code.
 *
 * <p><b>A file that is written to.</b> While readers read, a few times a second, {@link #checkUnchanged} compares size,
 * modification time and change time with those at open. From the first difference on, every read is an error: a
 * size or a modification time that differs means that the file was written to (or that somebody ran {@code touch} on
 * it). A change time that differs alone is what {@code chmod}, a hard link, a rename, deleting the name, or a backup
 * that sets the access time back leave: the file then goes on being read if a sample of its blocks is as it was. What
 * takes the file's name, by a rename, is another file: this one is read as it was.
 */
public final class MappedFile implements AutoCloseable {

    private static final long REFRESH_NANOS = 200_000_000;
    private static final int RESIDENCY_SAMPLES = 64;
    /** One page in 64 may be missing: more of them cost more, faulted in, than reading by call costs for the others. */
    private static final double WARM_SHARE = 0.98;

    private static final System.Logger LOG = System.getLogger(MappedFile.class.getName());

    private final Path path;
    private final Arena arena;
    private final MemorySegment segment;
    private final int fd;
    private final Leak leak;

    /** Null where the OS does not tell, and of a file that this process writes. Guarded by the monitor. */
    private FileStatus status;
    private final ContentSample sample;
    /** What is found of a file that was written to or shrank; null as long as it was not. */
    private volatile String change;
    /** Read together with this file; null if none is. */
    private volatile MappedFile index;
    private volatile boolean closed;
    private volatile boolean warm;
    private volatile long refreshedNanos;
    /** What the kernel reads ahead, in bytes; -1 until somebody asks. */
    private volatile long kernelReadAhead = -1;

    private MappedFile(Path path, Arena arena, MemorySegment segment, int fd, FileStatus status) {
        this.path = path;
        this.arena = arena;
        this.segment = segment;
        this.fd = fd;
        this.status = status;
        this.sample = new ContentSample(this);
        this.warm = residency(RESIDENCY_SAMPLES) >= WARM_SHARE;
        this.refreshedNanos = System.nanoTime();
        this.leak = Leak.watch(this, "file", path);
    }

    /**
     * Maps a file.
     *
     * @param path a regular file; it may be empty
     * @return the mapping, to be closed by the caller
     * @throws NoSuchFileException if there is none
     * @throws NotRegularFileException if it is not a regular file
     * @throws IOException if it cannot be read or mapped
     */
    public static MappedFile open(Path path) throws IOException {
        return open(path, false);
    }

    /**
     * Maps a file that this process itself goes on writing to: that it was written to is no error.
     *
     * @param path a regular file; it may be empty
     * @return the mapping, to be closed by the caller
     * @throws NoSuchFileException if there is none
     * @throws NotRegularFileException if it is not a regular file
     * @throws IOException if it cannot be read or mapped
     */
    public static MappedFile openWritten(Path path) throws IOException {
        return open(path, true);
    }

    private static MappedFile open(Path path, boolean isWritten) throws IOException {
        RegularFile.require(path);
        int fd = Posix.AVAILABLE ? Posix.openReadOnly(path) : -1;
        Path same = RegularFile.sameFile(path, fd);
        Arena arena = Arena.ofShared();
        try (FileChannel channel = openRegular(same, path)) {
            FileStatus status = isWritten ? null : FileStatus.of(fd, path);
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            return new MappedFile(path, arena, segment, fd, status);
        } catch (Throwable t) {
            arena.close();
            if (fd >= 0) {
                Posix.close(fd);
            }
            throw t;
        }
    }

    private static FileChannel openRegular(Path same, Path path) throws IOException {
        RegularFile.require(same, path);
        return FileChannel.open(same, StandardOpenOption.READ);
    }

    /**
     * The file's path, as it was given.
     *
     * @return the path
     */
    public Path path() {
        return path;
    }

    /**
     * All bytes of the file; read-only, usable by any thread until {@link #close}.
     *
     * @return the segment
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * The file's size when it was opened.
     *
     * @return bytes
     */
    public long byteSize() {
        return segment.byteSize();
    }

    /**
     * Tells the OS how a range will be read. It is advice: nothing depends on it.
     *
     * @param advice what to expect
     * @param offset the range's first byte; need not be at a page's start
     * @param bytes the range's length; an empty range is no call
     * @return whether the OS took the advice; false where it has no such call
     * @throws IndexOutOfBoundsException if the range is not within the file
     */
    public boolean advise(Advice advice, long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, segment.byteSize());
        if (!Posix.AVAILABLE || bytes == 0) {
            return false;
        }
        long pageStart = offset & -Posix.PAGE_BYTES;
        MemorySegment pages = segment.asSlice(pageStart, offset + bytes - pageStart);
        boolean taken = Posix.madvise(pages, advice.madvise);
        if (advice.fadvise >= 0 && advice != Advice.WILL_NEED) {
            taken |= Posix.fadvise(fd, pageStart, pages.byteSize(), advice.fadvise);
        }
        return taken;
    }

    /**
     * How much of the file is in the page cache, by a sample of its pages: one of each of so many equal parts, others
     * at each call, so that no pattern of what was read deceives.
     *
     * @param samples pages to look at
     * @return the share, 0 to 1; 1 where the OS cannot tell, and for an empty file
     */
    public double residency(int samples) {
        if (!Posix.AVAILABLE || segment.byteSize() == 0) {
            return 1;
        }
        var random = new SplittableRandom(System.nanoTime());
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment flag = scratch.allocate(JAVA_BYTE);
            int resident = 0;
            for (int i = 0; i < samples; i++) {
                long at = (long) ((i + random.nextDouble()) / samples * segment.byteSize());
                resident += isResident(Math.min(at, segment.byteSize() - 1), flag) ? 1 : 0;
            }
            return (double) resident / samples;
        }
    }

    private boolean isResident(long offset, MemorySegment flag) {
        return Posix.isResident(segment.asSlice(offset & -Posix.PAGE_BYTES, 1), flag);
    }

    /**
     * Whether a page of the file is in the page cache, or on its way there.
     *
     * @param offset any byte of the page
     * @return true if so, and where the OS cannot tell
     * @throws IndexOutOfBoundsException if there is no such byte
     */
    public boolean isResident(long offset) {
        Objects.checkIndex(offset, segment.byteSize());
        if (!Posix.AVAILABLE) {
            return true;
        }
        try (Arena scratch = Arena.ofConfined()) {
            return isResident(offset, scratch.allocate(JAVA_BYTE));
        }
    }

    /**
     * Says that whoever reads this file relies on what another one says of it: it is checked with this one.
     *
     * @param other the file; closed with this one
     */
    public void checkTogetherWith(MappedFile other) {
        index = other;
    }

    /**
     * Fails if the file is not what it was when it was opened: if it is smaller, or was written to.
     *
     * @throws UncheckedIOException if so; it names the file, and both sizes or times
     */
    public void checkUnchanged() {
        if (change == null) {
            look();
        }
        if (change != null) {
            throw new UncheckedIOException(new IOException(path + ": " + change));
        }
        MappedFile other = index;
        if (other != null) {
            other.checkUnchanged();
        }
    }

    /** Whether the file was found to have changed: nothing of it is to be read any more. */
    boolean isChanged() {
        return change != null;
    }

    private synchronized void look() {
        if (status == null || closed) {
            return;
        }
        FileStatus now = FileStatus.of(fd, path);
        if (now == null || !now.isOfSameFile(status)) {
            return;
        }
        if (now.byteSize() < segment.byteSize()) {
            change = "the file shrank while it was open: " + now.byteSize() + " bytes, expected " + segment.byteSize();
        } else if (now.isWrittenSince(status)) {
            change = "the file was written to while it was open: " + now.byteSize() + " bytes, modified "
                    + time(now.modifiedNanos()) + ", expected " + status.byteSize() + " bytes, modified "
                    + time(status.modifiedNanos());
        } else if (now.isTouchedSince(status)) {
            long at = sample.firstChanged();
            if (at >= 0) {
                change = "the file was written to while it was open, and its modification time set back: at byte " + at
                        + ": other bytes than before, changed " + time(now.changedNanos()) + ", expected "
                        + time(status.changedNanos());
            } else {
                LOG.log(System.Logger.Level.DEBUG, "{0}: attributes or names of the file were changed while it was"
                        + " open; its bytes are taken to be the same", path);
                status = now;
            }
        }
    }

    private static Instant time(long nanos) {
        return Instant.EPOCH.plusNanos(nanos);
    }

    /** Takes in more blocks of a file that is what it was, before and after. */
    synchronized void extendSample() {
        long before = sample.taken();
        sample.extend();
        FileStatus now = sample.taken() == before || status == null ? status : FileStatus.of(fd, path);
        if (now != null && (now.isWrittenSince(status) || now.isTouchedSince(status))) {
            sample.forget(before);
        }
    }

    /**
     * Whether a path leads to this very file, and not to another one that was renamed to it.
     *
     * @param other the path
     * @return true if so, and where the OS cannot tell files apart
     * @throws IOException if the path cannot be looked at
     * @throws IllegalStateException if this is closed
     */
    public boolean isAt(Path other) throws IOException {
        if (closed) {
            throw new IllegalStateException(path + ": the file is closed");
        }
        return Files.exists(other) && Files.isSameFile(RegularFile.sameFile(path, fd), other);
    }

    /** Whether most of the file was in the page cache when that was last looked at; see {@link #refresh}. */
    boolean isWarm() {
        return warm;
    }

    /** Has the OS begin to read whole pages; a hint, which an end behind the file's does not harm. */
    void willNeed(long pageOffset, long bytes) {
        Posix.fadvise(fd, pageOffset, bytes, Advice.WILL_NEED.fadvise);
    }

    /** How far the kernel reads ahead of whoever reads in order, in bytes. */
    long kernelReadAhead() {
        if (kernelReadAhead < 0) {
            kernelReadAhead = KernelReadAhead.bytes(RegularFile.sameFile(path, fd));
        }
        return kernelReadAhead;
    }

    /** At most a few times a second, looks again at the page cache and at whether the file is what it was. */
    void refresh() {
        long now = System.nanoTime();
        if (now - refreshedNanos > REFRESH_NANOS) {
            refreshedNanos = now;
            checkUnchanged();
            extendSample();
            warm = residency(RESIDENCY_SAMPLES) >= WARM_SHARE;
        } else if (change != null) {
            checkUnchanged();
        }
    }

    /**
     * Reads by {@code pread(2)}, from native code, so that a cold page never stalls a safepoint.
     *
     * @param callState a segment of {@link Posix#CALL_STATE} that no other thread uses
     */
    void read(long offset, MemorySegment target, long targetOffset, long bytes, MemorySegment callState) {
        Objects.checkFromIndexSize(offset, bytes, segment.byteSize());
        if (closed) {
            // The OS may have given the descriptor's number to another file.
            throw new IllegalStateException(path + ": the file is closed");
        }
        long read = Posix.pread(callState, fd, offset, target, targetOffset, bytes);
        if (read < bytes) {
            readRest(Math.max(read, 0), read, offset, target, targetOffset, bytes, callState);
        }
    }

    /** Goes on after a first read that was not whole: a signal, the end of the file, or an error. */
    private void readRest(long done, long last, long offset, MemorySegment target, long targetOffset, long bytes,
            MemorySegment callState) {
        while (done < bytes) {
            if (last == 0 || last < 0 && last != -Posix.EINTR) {
                checkUnchanged();
                throw new UncheckedIOException(new IOException(path + ": read failed at byte " + (offset + done)
                        + (last == 0 ? ": unexpected end of file" : ": " + Posix.message((int) -last))));
            }
            last = Posix.pread(callState, fd, offset + done, target, targetOffset + done, bytes - done);
            done += Math.max(last, 0);
        }
    }

    /** Unmaps. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        if (!closed) {
            arena.close();
            leak.closed();
            closed = true;
            if (fd >= 0) {
                Posix.close(fd);
            }
        }
    }

    @Override
    public String toString() {
        return path + " (" + byteSize() + " bytes, mapped)";
    }
}
