// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.internal.Leak;
import io.penstock.io.local.RegularFile;
import io.penstock.os.FileStatus;
import io.penstock.os.PathBytes;
import io.penstock.os.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A file mapped read-only as one segment of any size, with calls that load its bytes without a page fault in Java code.
 *
 * <p><b>Remote files.</b> A remote file is mapped as a sparse local file: each range must be
 * {@linkplain #require fetched} before it is read. {@link #segment} fetches all of it, {@link #range} a part; spans and
 * their readers fetch what they read. Local files need no fetch. What a {@link SpanReader} copies may be dropped again;
 * all else that was fetched stays while the file is open.
 *
 * <p><b>Threads.</b> Any number may read. Call {@link #close} when none does: a later read throws
 * {@link IllegalStateException} and never returns another file's bytes.
 *
 * <p><b>Truncation.</b> If another process truncates the file, Java code that touches a missing page gets an
 * {@link InternalError}; native code would crash. {@link #reading} turns the error into one that names the file.
 * Memory of a mapped file is therefore never passed to native code.
 *
 * <p><b>Writes.</b> A few times a second while the file is read, {@link #checkUnchanged} compares size, modification
 * time and change time with those at open. A different size or modification time means that the file was written to (or
 * {@code touch}ed): every later read fails. A different change time alone comes from {@code chmod}, a hard link, a
 * rename, an unlink, or a backup that resets the access time: reads continue if a sample of blocks is unchanged. A
 * rename onto the file's name creates another file; this one is read as it was.
 */
public final class MappedFile implements AutoCloseable {

    private static final long REFRESH_NANOS = 200_000_000;

    private final Location location;
    private final String version;
    private final Arena arena;
    private final MemorySegment segment;
    private final PageCache pages;
    private final RangeFetcher fetcher;
    private ChangeWatch watch;
    private final @Nullable MappedFile index;
    private final Leak leak;
    private final boolean isWritten;
    /** Whether the bytes are memory of this process, not of a file. */
    private final boolean isMemory;
    volatile boolean closed;
    final FileUsers users = new FileUsers();
    /** Whether the whole file was fetched. */
    private volatile boolean whole;
    /** Null until somebody asks: a short command never does. */
    private volatile @Nullable Boolean warm;
    private volatile long refreshedNanos;

    private MappedFile(Mapping mapping, Arena arena, MemorySegment segment, int fd,
            @Nullable FileStatus status, String version, boolean isWatched) {
        this.location = mapping.location;
        this.fetcher = mapping.fetcher;
        this.index = mapping.index;
        this.version = version;
        this.isWritten = !isWatched && !isRemote();
        this.isMemory = false;
        this.arena = arena;
        this.segment = segment;
        this.pages = new PageCache(segment, mapping.path, fd);
        this.watch = new ChangeWatch(this, fd, mapping.path, status);
        this.refreshedNanos = System.nanoTime();
        this.leak = Leak.watch(this, "file", location);
    }

    private MappedFile(Location location, Arena arena, MemorySegment segment, RangeFetcher fetcher) {
        this.location = location;
        this.fetcher = fetcher;
        this.index = null;
        this.version = FileInfo.UNKNOWN_VERSION;
        this.isWritten = false;
        this.isMemory = true;
        this.arena = arena;
        this.segment = segment;
        this.pages = new PageCache(segment, Path.of(""), -1);
        this.watch = new ChangeWatch(this, -1, Path.of(""), null);
        this.warm = true;
        this.leak = Leak.watch(this, "decoded copy", location);
    }

    /** A file to map: {@code path} is the file itself or its sparse copy, {@code version} null for a local file. */
    private record Mapping(Location location, Path path, @Nullable String version, RangeFetcher fetcher,
            @Nullable MappedFile index) {

        MappedFile open(boolean isWatched) throws IOException {
            RegularFile.require(path);
            int fd = Posix.AVAILABLE ? Posix.openReadOnly(path) : -1;
            Path same = RegularFile.sameFile(path, fd);
            Arena arena = Arena.ofShared();
            try (FileChannel channel = openRegular(same)) {
                FileStatus status = isWatched ? FileStatus.of(fd, path) : null;
                MemorySegment segment = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
                return new MappedFile(this, arena, segment, fd, status,
                        version != null ? version : LocalFiles.info(same).version(), isWatched);
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
     * @throws NoSuchFileException if the file does not exist
     * @throws java.nio.file.FileSystemException if it is not a regular file
     * @throws IOException if it cannot be read or mapped
     */
    public static MappedFile open(Path path) throws IOException {
        return PathBytes.isText(path) ? Location.of(path).open()
                : open(new Location(new LocalFiles(path.getFileSystem()), path.toString()), path, null);
    }

    /** Maps a local file at its present path, under its known name. */
    static MappedFile open(Location location, Path path, @Nullable MappedFile index) throws IOException {
        return new Mapping(location, path, null, LocalBytes.INSTANCE, index).open(true);
    }

    /**
     * Maps a file that this process continues to write: writes are not an error.
     *
     * @param path a regular file; it may be empty
     * @return the mapping, to be closed by the caller
     * @throws IOException as {@link #open(Path)}
     */
    public static MappedFile openWritten(Path path) throws IOException {
        return new Mapping(Location.of(path), path, null, LocalBytes.INSTANCE, null).open(false);
    }

    /**
     * {@return a mapping of a sparse local copy of a remote file, to be closed by the caller}
     *
     * @param location the remote file
     * @param version its version, from {@link FileSource#info}
     * @param sparse a local file of the same size
     * @param fetcher copies remote bytes into the sparse file; if the call succeeds, it is closed with the mapping
     * @param index as for {@link FileSource#open}
     * @throws IOException if the local file cannot be read or mapped
     */
    public static MappedFile openSparse(Location location, String version, Path sparse, RangeFetcher fetcher,
            @Nullable MappedFile index) throws IOException {
        return new Mapping(location, sparse, Objects.requireNonNull(version, "version"),
                Objects.requireNonNull(fetcher, "fetcher"), index).open(false);
    }

    /**
     * {@return memory that is read as a file: bytes that are decoded when they are fetched, and may be dropped and
     * decoded again}
     *
     * @param location what is decoded
     * @param arena closed with the mapping
     * @param segment the memory
     * @param fetcher decodes bytes into the memory; closed with the mapping
     */
    public static MappedFile ofMemory(Location location, Arena arena, MemorySegment segment, RangeFetcher fetcher) {
        return new MappedFile(location, arena, segment, fetcher);
    }

    /** {@return the file's location, as given at open} */
    public Location location() {
        return location;
    }

    /**
     * {@return all bytes of the file, fetching missing ones; read-only, usable by any thread until {@link #close}}
     *
     * @throws UncheckedIOException if the fetch fails
     */
    public MemorySegment segment() {
        if (isRemote() && !whole) {
            require(0, segment.byteSize());
            whole = true;
        }
        return segment;
    }

    /**
     * {@return a view of a part of the file, with the rules of {@link #segment}; fetches missing bytes}
     *
     * @param offset its first byte
     * @param bytes its length
     * @throws IndexOutOfBoundsException if the part is outside the file
     * @throws UncheckedIOException if the fetch fails
     */
    public MemorySegment range(long offset, long bytes) {
        MemorySegment part = segment.asSlice(offset, bytes);
        require(offset, bytes);
        return part;
    }

    /**
     * {@return the mapping, for readers that {@linkplain #require fetch} each range first; other bytes are undefined}
     */
    public MemorySegment mapping() {
        return segment;
    }

    /** {@return the version that the file had when it was opened, as {@link FileInfo#version} gives it} */
    public String version() {
        return version;
    }

    /**
     * Fetches the missing bytes of a range, which then stay while the file is open; does nothing for a local file.
     *
     * @param offset the range's first byte
     * @param bytes its length; bytes after the file's end are ignored
     * @throws UncheckedIOException if the fetch fails; names the file
     */
    public void require(long offset, long bytes) {
        if (isRemote() && clipped(offset, bytes) > 0) {
            fetcher.keep(offset, clipped(offset, bytes));
        }
    }

    /** Fetches the missing bytes of a range to copy; the copy counts if {@link #drops} is as before this call. */
    void fetch(long offset, long bytes, FetchWaits waits) {
        long there = clipped(offset, bytes);
        if (there > 0) {
            fetcher.fetch(offset, there, waits);
        }
    }

    private long clipped(long offset, long bytes) {
        checkOpen();
        return offset < 0 ? 0 : Math.min(bytes, segment.byteSize() - offset);
    }

    /** Returns a number that has changed before fetched bytes are dropped; constant for a local file. */
    long drops() {
        // The copy before this call must not be read after it.
        VarHandle.acquireFence();
        return fetcher.drops();
    }

    /**
     * {@return the version of a remote file, from {@link FileSource#info}; empty for a local file, and for one whose
     * server names no version}
     */
    public Optional<String> remoteVersion() {
        return isRemote() && !version.equals(FileInfo.UNKNOWN_VERSION) ? Optional.of(version) : Optional.empty();
    }

    /** {@return where the file's bytes come from: for a local file, one for which all are present} */
    public RangeFetcher fetcher() {
        return fetcher;
    }

    /** {@return whether bytes may be missing, so that what is read must be {@linkplain #require fetched} first} */
    public boolean isRemote() {
        return fetcher != LocalBytes.INSTANCE;
    }

    /** {@return whether this process writes the file: {@link #openWritten}, as for a store's decoded copy} */
    public boolean isWritten() {
        return isWritten;
    }

    /** {@return the file's size at open, in bytes} */
    public long byteSize() {
        return segment.byteSize();
    }

    /**
     * Advises the OS how a range will be read; correctness never depends on it.
     *
     * @param advice the advice
     * @param offset the range's first byte; need not be page-aligned
     * @param bytes the range's length; an empty range does nothing
     * @return whether the OS accepted the advice; false if it has no such call
     * @throws IndexOutOfBoundsException if the range is outside the file
     */
    public boolean advise(Advice advice, long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, segment.byteSize());
        if (advice == Advice.WILL_NEED && !prefetch(offset, bytes)) {
            return false;
        }
        if (advice == Advice.POPULATE_READ) {
            fetch(offset, bytes, new FetchWaits());
        }
        return pages.advise(advice, offset, bytes);
    }

    /**
     * Estimates how much of the file is in the page cache from one page of each of {@code samples} equal parts. Each
     * call picks other pages, so no access pattern biases the estimate.
     *
     * @param samples pages to look at
     * @return the share, 0 to 1; 1 if the OS cannot tell or the file is empty
     */
    public double residency(int samples) {
        return pages.share(samples);
    }

    /**
     * {@return whether a page of the file is in the page cache or being read into it; true if the OS cannot tell}
     *
     * @param offset any byte of the page
     * @throws IndexOutOfBoundsException if the byte is outside the file
     */
    public boolean isResident(long offset) {
        Objects.checkIndex(offset, segment.byteSize());
        return pages.has(offset);
    }

    /**
     * Fails if the file or its index has shrunk or was written to since open.
     *
     * @throws UncheckedIOException if it has; names the file and both sizes or times
     */
    public void checkUnchanged() {
        watch.check();
        if (index != null) {
            index.checkUnchanged();
        }
    }

    /**
     * A read of the mapping.
     *
     * @param <T> the result
     * @param <X> the exception
     */
    @FunctionalInterface
    public interface Read<T, X extends Exception> {

        /**
         * Reads.
         *
         * @return the result
         * @throws X if the content is rejected
         */
        T read() throws X;
    }

    /**
     * Runs a read of the mapping; if a page is missing because the file changed, the error names the file.
     *
     * @param <T> the result
     * @param <X> the exception
     * @param read the read
     * @return its result
     * @throws X the read's own exception
     * @throws UncheckedIOException if the file has shrunk or was written to; names it
     */
    public <T, X extends Exception> T reading(Read<T, X> read) throws X {
        try {
            return read.read();
        } catch (InternalError fault) {
            throw explain(fault);
        }
    }

    /**
     * Explains a fault under the mapping, for look-ups per sample, where the lambda of {@link #reading} may allocate.
     *
     * @param fault what the JVM threw
     * @return the error itself, if the file is unchanged
     * @throws UncheckedIOException if the file has shrunk or was written to; names it
     */
    public InternalError explain(InternalError fault) {
        checkUnchanged();
        return fault;
    }

    /** Tells whether a change was detected; the file must not be read any more. */
    boolean isChanged() {
        return watch.isChanged();
    }

    /** Samples more blocks of a file that is unchanged before and after. */
    void extendSample() {
        watch.extendSample();
    }

    /**
     * {@return whether the file's name still leads to this file, not to a replacement}
     *
     * @throws IOException if the source fails
     * @throws IllegalStateException if this file is closed
     */
    public boolean isCurrent() throws IOException {
        checkOpen();
        return location.infoNow().version().equals(version);
    }

    private boolean looksWarm() {
        return isMemory || pages.isWarm() && fetcher.isPresent(0, segment.byteSize());
    }

    /**
     * Tells whether most of the file was in the page cache at the last {@link #refresh}, or at the first call, and no
     * byte was missing.
     */
    boolean isWarm() {
        Boolean known = warm;
        if (known == null) {
            known = looksWarm();
            warm = known;
        }
        return known;
    }

    /** Starts fetching the missing bytes of a range, whose end may be after the file's; tells whether none was. */
    boolean prefetch(long offset, long bytes) {
        long there = Math.min(bytes, segment.byteSize() - offset);
        if (fetcher.isPresent(offset, there)) {
            return true;
        }
        fetcher.prefetch(offset, there);
        return false;
    }

    /** Returns the pages of the mapping, of which only present bytes may be asked for: others are zeros. */
    PageCache pages() {
        return pages;
    }

    /** Checks the page cache and the file for changes, at most a few times a second. */
    void refresh() {
        long now = System.nanoTime();
        if (now - refreshedNanos > REFRESH_NANOS) {
            refreshedNanos = now;
            checkUnchanged();
            extendSample();
            warm = looksWarm();
        } else if (isChanged()) {
            checkUnchanged();
        }
    }

    /**
     * Closes the file's descriptor, of which a process may have few; the mapping stays. Cold ranges are then read by
     * {@code madvise(2)}, and changes are looked for at the file's path. Call it before other threads have the file.
     */
    public void releaseDescriptor() {
        watch = watch.byPath();
        pages.releaseDescriptor();
    }

    /**
     * Reads in native code, by {@code pread(2)} if there is a descriptor, so that a cold page never delays a safepoint.
     */
    void read(long offset, MemorySegment target, long targetOffset, long bytes, FetchWaits waits) {
        Objects.checkFromIndexSize(offset, bytes, segment.byteSize());
        checkOpen();   // the OS may have reused the descriptor's number
        long before;
        do {
            before = drops();
            fetch(offset, bytes, waits);
            pages.read(this, offset, target, targetOffset, bytes);
        } while (drops() != before);
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException(location + ": the file is closed");
        }
    }

    /**
     * Unmaps. Calling it again does nothing.
     *
     * @throws IllegalStateException if an open loader reads the file, which stays open; names both
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            users.open().ifPresent(user -> {
                throw new IllegalStateException(location + ": cannot be closed while " + user + " reads it: close "
                        + user + " first");
            });
            arena.close();
            leak.closed();
            watch.close();
            closed = true;
            pages.releaseDescriptor();
            fetcher.close();
        }
    }

    @Override
    public String toString() {
        return location + " (" + byteSize() + " bytes, mapped)";
    }
}
