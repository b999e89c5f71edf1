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
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * A file mapped whole and read-only, as one segment of whatever size, with the calls that bring its bytes in without
 * a page fault in Java code.
 *
 * <p><b>Bytes that are not there yet.</b> A local file is there whole. What is mapped in a remote file's stead is
 * sparse: a range of it must be {@linkplain #require required} before it is read. {@link #segment} requires all of it,
 * {@link #range} a part; spans and their readers require what they read.
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

    private final Location location;
    /** What is mapped: the file itself, or the sparse file in its stead. */
    private final Path path;
    private final String version;
    private final Arena arena;
    private final MemorySegment segment;
    private final int fd;
    /** Brings missing bytes in; null if all are there. */
    private final RangeFetcher fetcher;
    private final ChangeWatch watch;
    /** Says what the bytes mean; null if none does. */
    private final MappedFile index;
    private final Leak leak;

    private volatile boolean closed;
    /** Whether all of it was fetched. */
    private volatile boolean whole;
    private volatile boolean warm;
    private volatile long refreshedNanos;
    /** What the kernel reads ahead, in bytes; -1 until somebody asks. */
    private volatile long kernelReadAhead = -1;

    private MappedFile(Mapping mapping, Arena arena, MemorySegment segment, int fd, FileStatus status, String version) {
        this.location = mapping.location;
        this.path = mapping.path;
        this.fetcher = mapping.fetcher;
        this.index = mapping.index;
        this.version = version;
        this.arena = arena;
        this.segment = segment;
        this.fd = fd;
        this.watch = new ChangeWatch(this, fd, path, status);
        this.warm = residency(RESIDENCY_SAMPLES) >= WARM_SHARE;
        this.refreshedNanos = System.nanoTime();
        this.leak = Leak.watch(this, "file", location);
    }

    /** What is to be mapped: {@code version} is null for that of the file itself, {@code fetcher} of a whole file. */
    private record Mapping(Location location, Path path, String version, RangeFetcher fetcher, MappedFile index) {

        MappedFile open(boolean isWatched) throws IOException {
            RegularFile.require(path);
            int fd = Posix.AVAILABLE ? Posix.openReadOnly(path) : -1;
            Path same = RegularFile.sameFile(path, fd);
            Arena arena = Arena.ofShared();
            try (FileChannel channel = openRegular(same)) {
                FileStatus status = isWatched ? FileStatus.of(fd, path) : null;
                MemorySegment segment = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
                return new MappedFile(this, arena, segment, fd, status,
                        version != null ? version : LocalFiles.info(same).version());
            } catch (Throwable t) {
                arena.close();
                if (fd >= 0) {
                    Posix.close(fd);
                }
                throw t;
            }
        }

        private FileChannel openRegular(Path same) throws IOException {
            RegularFile.require(same, path);
            return FileChannel.open(same, StandardOpenOption.READ);
        }
    }

    /**
     * Maps a local file.
     *
     * @param path a regular file; it may be empty
     * @return the mapping, to be closed by the caller
     * @throws NoSuchFileException if there is none
     * @throws NotRegularFileException if it is not a regular file
     * @throws IOException if it cannot be read or mapped
     */
    public static MappedFile open(Path path) throws IOException {
        return Location.of(path).open();
    }

    /** Maps a local file where it is now, under the name that it is known by. */
    static MappedFile open(Location location, Path path, MappedFile index) throws IOException {
        return new Mapping(location, path, null, null, index).open(true);
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
        return new Mapping(Location.of(path), path, null, null, null).open(false);
    }

    /**
     * Maps a sparse local file in the stead of a remote one.
     *
     * @param location the remote file
     * @param version its version, as {@link FileSource#info} has it
     * @param sparse a local file of its size
     * @param fetcher writes the remote file's bytes into the sparse one; closed with the mapping, if there is one
     * @param index as for {@link FileSource#open}
     * @return the mapping, to be closed by the caller
     * @throws IOException if the sparse file cannot be mapped
     */
    public static MappedFile openSparse(Location location, String version, Path sparse, RangeFetcher fetcher,
            MappedFile index) throws IOException {
        return new Mapping(location, sparse, Objects.requireNonNull(version, "version"),
                Objects.requireNonNull(fetcher, "fetcher"), index).open(false);
    }

    /**
     * The file, as it was named when it was opened.
     *
     * @return its location
     */
    public Location location() {
        return location;
    }

    /**
     * All bytes of the file, which are fetched if they are not there; read-only, usable by any thread until
     * {@link #close}.
     *
     * @return the segment
     * @throws UncheckedIOException if they cannot be fetched
     */
    public MemorySegment segment() {
        if (fetcher != null && !whole) {
            fetch(0, segment.byteSize());
            whole = true;
        }
        return segment;
    }

    /**
     * A part of the file, which is fetched if it is not there.
     *
     * @param offset its first byte
     * @param bytes its length
     * @return a view, usable as {@link #segment} is
     * @throws IndexOutOfBoundsException if the part is not within the file
     * @throws UncheckedIOException if it cannot be fetched
     */
    public MemorySegment range(long offset, long bytes) {
        MemorySegment part = segment.asSlice(offset, bytes);
        require(offset, bytes);
        return part;
    }

    /**
     * The file's bytes, for a reader that {@linkplain #require requires} each range before it reads it: what is not
     * required may be anything.
     *
     * @return the segment
     */
    public MemorySegment mapping() {
        return segment;
    }

    /**
     * Fetches a range that is not there; does nothing for a local file.
     *
     * @param offset the range's first byte
     * @param bytes its length; what is behind the file's end is left out
     * @throws UncheckedIOException if it cannot be fetched; names the file
     */
    public void require(long offset, long bytes) {
        if (fetcher != null) {
            fetch(offset, bytes);
        }
    }

    /** Not in {@link #require}, which is to stay small enough to be compiled into its callers. */
    private void fetch(long offset, long bytes) {
        if (closed) {
            throw new IllegalStateException(location + ": the file is closed");
        }
        if (offset >= 0 && offset < segment.byteSize() && bytes > 0) {
            fetcher.fetch(offset, Math.min(bytes, segment.byteSize() - offset));
        }
    }

    /** Whether ranges may be missing. */
    boolean isSparse() {
        return fetcher != null;
    }

    /** Whether the bytes of a range are there, so that looking at them tells something. */
    boolean isPresent(long offset, long bytes) {
        return fetcher == null || fetcher.isPresent(offset, bytes);
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
        if (isSparse() && advice == Advice.WILL_NEED) {
            prefetch(offset, bytes);
        } else if (advice == Advice.POPULATE_READ) {
            require(offset, bytes);
        }
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
     * Fails if the file, or the one that says what its bytes mean, is not what it was when it was opened: if it is
     * smaller, or was written to.
     *
     * @throws UncheckedIOException if so; it names the file, and both sizes or times
     */
    public void checkUnchanged() {
        watch.check();
        if (index != null) {
            index.checkUnchanged();
        }
    }

    /**
     * What a fault under the mapping means, which the JVM raises as an {@link InternalError}. For hot paths; others
     * use {@link #reading}.
     *
     * @param fault what the JVM threw
     * @return the error itself, if the file is what it was
     * @throws UncheckedIOException if it has shrunk or was written to; names it
     */
    public InternalError explain(InternalError fault) {
        checkUnchanged();
        return fault;
    }

    /**
     * A read of the mapping.
     *
     * @param <T> what it gives
     * @param <X> what it throws
     */
    @FunctionalInterface
    public interface Read<T, X extends Exception> {

        /**
         * Reads.
         *
         * @return what was read
         * @throws X if the content is refused
         */
        T read() throws X;
    }

    /**
     * Runs a read of the mapping, and says which file is not what it was if the read meets a page that is gone.
     *
     * @param <T> what it gives
     * @param <X> what it throws
     * @param read the read
     * @return what it gave
     * @throws X what it threw
     * @throws UncheckedIOException if the file has shrunk or was written to; names it
     */
    public <T, X extends Exception> T reading(Read<T, X> read) throws X {
        try {
            return read.read();
        } catch (InternalError fault) {
            throw explain(fault);
        }
    }

    /** Whether the file was found to have changed: nothing of it is to be read any more. */
    boolean isChanged() {
        return watch.isChanged();
    }

    /** Takes in more blocks of a file that is what it was, before and after. */
    void extendSample() {
        watch.extendSample();
    }

    /**
     * Whether the file's name leads to this very file, and not to another one that took its place.
     *
     * @return true if so
     * @throws IOException if the source cannot tell
     * @throws IllegalStateException if this is closed
     */
    public boolean isCurrent() throws IOException {
        if (closed) {
            throw new IllegalStateException(location + ": the file is closed");
        }
        return location.info().version().equals(version);
    }

    /** Whether most of the file was in the page cache when that was last looked at; see {@link #refresh}. */
    boolean isWarm() {
        return warm;
    }

    /** Begins to fetch a range that is not there; a hint, which an end behind the file's does not harm. */
    void prefetch(long offset, long bytes) {
        long there = Math.min(bytes, segment.byteSize() - offset);
        if (!isPresent(offset, there)) {
            fetcher.prefetch(offset, there);
        }
    }

    /** Has whole pages brought in without waiting; a hint, which an end behind the file's does not harm. */
    void willNeed(long pageOffset, long bytes) {
        if (isSparse()) {
            prefetch(pageOffset, bytes);
        }
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
        } else if (isChanged()) {
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
            throw new IllegalStateException(location + ": the file is closed");
        }
        require(offset, bytes);
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
                throw new UncheckedIOException(new IOException(location + ": read failed at byte " + (offset + done)
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
            watch.close();
            closed = true;
            if (fd >= 0) {
                Posix.close(fd);
            }
            if (fetcher != null) {
                fetcher.close();
            }
        }
    }

    @Override
    public String toString() {
        return location + " (" + byteSize() + " bytes, mapped)";
    }
}
