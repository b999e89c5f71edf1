// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.internal.Scratch;
import io.penstock.os.Posix;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Copies the bytes of spans, through the mapping or by {@code pread}, for one thread at a time.
 *
 * <p>Owns a little native memory: {@link #close} frees it. Allocates nothing on the heap once warm.
 */
public final class SpanReader implements AutoCloseable {

    /** Reads of one file between two checks whether {@link MappedFile#refresh} is due. */
    private static final int DECIDE_EVERY = 256;
    /** Rows whose first bytes are touched together, before any of them is copied. */
    private static final int GROUP = 8;
    /** Touches per group: about as many cache misses as a CPU keeps in flight. */
    private static final int GROUP_TOUCHES = 12;
    /** Touches per row: one byte in each of its first pages. The hardware prefetches within a page. */
    private static final int ROW_TOUCHES = 4;
    private static final int TOUCH_STRIDE = 4096;

    private final ReadMode mode;
    private final Span local = new Span();
    private final Scratch scratch = new Scratch();
    private final FetchWaits waits = new FetchWaits();
    private @Nullable MappedFile lastFile;
    /** The user that this reader works for; null if there is none. */
    private @Nullable Supplier<Optional<String>> user;
    private boolean byCall;
    private int untilDecision = 1;
    private int lastPiece;
    private long[] rowOffsets = {};
    private long[] rowSizes = {};
    /** Prevents the compiler from removing {@link #touch}. */
    @SuppressWarnings("UnusedVariable")
    private long touched;

    /**
     * Creates a reader for one thread.
     *
     * @param mode how to read
     */
    public SpanReader(ReadMode mode) {
        this.mode = mode;
    }

    /**
     * Names whom this reader works for: a file that it reads cannot be closed before.
     *
     * @param user its name for messages; empty once it is closed
     */
    public void user(Supplier<Optional<String>> user) {
        this.user = user;
    }

    /** {@return how long this reader has waited for remote bytes; it goes on to add to them} */
    public FetchWaits waits() {
        return waits;
    }

    /**
     * Copies a span's bytes.
     *
     * @param span the bytes to copy
     * @param target native memory, which must not be freed during the call: a read uses its address
     * @param targetOffset the offset to write at
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names the file. The JVM may raise a fault
     *     under a mapping later, in the caller, as an {@link InternalError}: pass it to {@link #explain}
     * @throws IndexOutOfBoundsException if the span or the target range is out of bounds
     */
    public void copy(Span span, MemorySegment target, long targetOffset) {
        MappedFile called = readByCall(span.file(), 1);
        if (called != null) {
            called.read(span.byteOffset(), target, targetOffset, span.byteSize(), waits);
            return;
        }
        MappedFile mapped = span.file();
        if (mapped == null) {
            MemorySegment.copy(span.segment(), span.byteOffset(), target, targetOffset, span.byteSize());
        } else if (!mapped.isRemote()) {
            PageCache.copyMapped(mapped, span.byteOffset(), target, targetOffset, span.byteSize());
        } else {
            copyFetched(mapped, span.byteOffset(), span.byteSize(), target, targetOffset);
        }
    }

    /** Copies bytes; fetches them again if they were dropped meanwhile. */
    private void copyFetched(MappedFile mapped, long offset, long bytes, MemorySegment target, long targetOffset) {
        long before;
        do {
            before = mapped.drops();
            mapped.fetch(offset, bytes, waits);
            MemorySegment.copy(mapped.mapping(), offset, target, targetOffset, bytes);
        } while (mapped.drops() != before);
    }

    /**
     * {@return the span's bytes for Java code to read without a cold page: the span itself if it is read through the
     * mapping, otherwise a span of scratch memory, valid until the next call} A caller that reads a mapping passes an
     * {@link InternalError} to {@link #explain}.
     *
     * @param span the bytes to read
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names the file
     */
    public Span local(Span span) {
        return local(span, 0, Runs.NONE);
    }

    /** Which bytes of a value are read: some runs, ascending or not. */
    public interface Runs {

        /** No runs: all bytes are read. */
        Runs NONE = new Runs() {
            @Override
            public int count() {
                return 0;
            }

            @Override
            public long begin(int run) {
                return 0;
            }

            @Override
            public long end(int run) {
                return 0;
            }
        };

        /** {@return how many runs there are; 0 for the whole} */
        int count();

        /**
         * {@return the first byte of a run}
         *
         * @param run its number
         */
        long begin(int run);

        /**
         * {@return the byte behind a run}
         *
         * @param run its number
         */
        long end(int run);
    }

    /**
     * {@return the span's bytes as {@link #local(Span)} gives them, of which only runs are read where calls read them}
     * What is between them is not to be looked at.
     *
     * @param span the bytes from the first of all runs to the last
     * @param origin the number of the span's first byte, as runs count
     * @param runs the bytes that are needed; with none, all
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names the file
     */
    public Span local(Span span, long origin, Runs runs) {
        MappedFile called = readByCall(span.file(), 1);
        MappedFile file = span.file();
        if (called == null && isAllMapped(file)) {
            return span;
        }
        MemorySegment memory = scratch.of(span.byteSize());
        if (called == null) {
            copyFetched(Objects.requireNonNull(file), span.byteOffset(), span.byteSize(), memory, 0);
        } else if (runs.count() == 0) {
            called.read(span.byteOffset(), memory, 0, span.byteSize(), waits);
        } else {
            for (int run = 0; run < runs.count(); run++) {
                long at = runs.begin(run) - origin;
                called.read(span.byteOffset() + at, memory, at, runs.end(run) - runs.begin(run), waits);
            }
        }
        local.set(memory, 0, span.byteSize());
        return local;
    }

    /**
     * Copies rows consecutively, at memory speed. It touches the first pages of a group of rows before it copies the
     * first, so that their page walks and cache misses overlap.
     *
     * @param rows the rows
     * @param indices the indices of the rows to copy
     * @param count the number of indices to use
     * @param target native memory, which must not be freed during the call: a read uses its address
     * @param targetOffset the offset to write at
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names the file
     * @throws IndexOutOfBoundsException if a row does not exist or the target is too small
     */
    public void copyRows(Rows rows, long[] indices, int count, MemorySegment target, long targetOffset) {
        MappedFile called = readByCall(rows.file(), count);
        if (called == null && isAllMapped(rows.file())) {
            copyMappedRows(rows, indices, count, target, targetOffset);
            return;
        }
        if (rowOffsets.length < count) {
            rowOffsets = new long[count];
            rowSizes = new long[count];
        }
        for (int i = 0; i < count; i++) {
            lastPiece = i;
            rowOffsets[i] = rows.offset(indices[i]);
            rowSizes[i] = rows.rowBytes();
        }
        copyPieces(called, rows.file(), rows.segment(), rowOffsets, rowSizes, count, target, targetOffset);
    }

    /** A loop of its own: HotSpot copies rows of one size up to a sixth faster than runs whose sizes it loads. */
    private void copyMappedRows(Rows rows, long[] indices, int count, MemorySegment target, long targetOffset) {
        MemorySegment from = rows.segment();
        long rowBytes = rows.rowBytes();
        int group = Math.clamp(GROUP_TOUCHES / touches(rowBytes), 1, GROUP);
        long at = targetOffset;
        try {
            for (int i = 0; i < count;) {
                int end = Math.min(count, i + group);
                for (int j = i; j < end; j++) {
                    lastPiece = j;
                    touch(from, rows.offset(indices[j]), rowBytes);
                }
                for (; i < end; i++, at += rowBytes) {
                    lastPiece = i;
                    MemorySegment.copy(from, rows.offset(indices[i]), target, at, rowBytes);
                }
            }
        } catch (InternalError fault) {
            throw explain(fault);
        }
    }

    /**
     * Copies scattered runs of bytes of one file or memory consecutively, as {@link #copyRows} does.
     *
     * @param in any span of the file or the memory
     * @param offsets where each run starts, with the same base as the span's offset
     * @param sizes the size of each run in bytes
     * @param count the number of runs
     * @param target native memory, which must not be freed during the call: a read uses its address
     * @param targetOffset the offset to write at
     * @return bytes written
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names the file
     * @throws IndexOutOfBoundsException if a run is outside the file or memory, or the target is too small
     */
    public long copyRuns(Span in, long[] offsets, long[] sizes, int count, MemorySegment target, long targetOffset) {
        MappedFile called = readByCall(in.file(), count);
        return copyPieces(called, in.file(), in.base(), offsets, sizes, count, target, targetOffset);
    }

    /** Copies pieces consecutively and returns their bytes. */
    private long copyPieces(@Nullable MappedFile called, @Nullable MappedFile file, MemorySegment from, long[] offsets,
            long[] sizes, int count, MemorySegment target, long targetOffset) {
        lastPiece = 0;
        if (called != null) {
            long at = targetOffset;
            for (int i = 0; i < count; at += sizes[i++]) {
                lastPiece = i;
                called.read(offsets[i], target, at, sizes[i], waits);
            }
            return at - targetOffset;
        }
        if (isAllMapped(file)) {
            return copyMapped(from, offsets, sizes, count, target, targetOffset);
        }
        long before = Objects.requireNonNull(file).drops();
        fetch(file, before, offsets, sizes, count);
        long copied = copyMapped(from, offsets, sizes, count, target, targetOffset);
        if (file.drops() != before) {
            // One by one: there may never be room for all of them at once.
            long at = targetOffset;
            for (int i = 0; i < count; at += sizes[i++]) {
                lastPiece = i;
                copyFetched(file, offsets[i], sizes[i], target, at);
            }
        }
        return copied;
    }

    private long copyMapped(MemorySegment from, long[] offsets, long[] sizes, int count, MemorySegment target,
            long targetOffset) {
        long at = targetOffset;
        try {
            for (int i = 0; i < count;) {
                int end = i;
                for (long touches = 0; end < count && end < i + GROUP && touches < GROUP_TOUCHES; end++) {
                    lastPiece = end;
                    touch(from, offsets[end], sizes[end]);
                    touches += touches(sizes[end]);
                }
                for (; i < end; at += sizes[i++]) {
                    lastPiece = i;
                    MemorySegment.copy(from, offsets[i], target, at, sizes[i]);
                }
            }
        } catch (InternalError fault) {
            throw explain(fault);
        }
        return at - targetOffset;
    }

    /** Starts fetching all pieces before it waits for any. Of a file that is whole in the cache, it asks for one. */
    private void fetch(MappedFile file, long drops, long[] offsets, long[] sizes, int count) {
        if (count > 1 && file.fetcher().isWhole(drops)) {
            file.fetch(offsets[0], sizes[0], waits);
            long bytes = 0;
            for (int i = 1; i < count; i++) {
                bytes += sizes[i];
            }
            waits.readPresent(count - 1, bytes);
            return;
        }
        for (int i = 0; i < count; i++) {
            lastPiece = i;
            file.prefetch(offsets[i], sizes[i]);
        }
        for (int i = 0; i < count; i++) {
            lastPiece = i;
            file.fetch(offsets[i], sizes[i], waits);
        }
    }

    /** Whether the mapping has all bytes: none is fetched. */
    private static boolean isAllMapped(@Nullable MappedFile file) {
        return file == null || !file.isRemote();
    }

    /** Asks first whether the file is local: the count of drops is read with a fence, which slows a loop. */
    private static boolean isWhole(@Nullable MappedFile file) {
        return file == null || !file.isRemote() || file.fetcher().isWhole(file.drops());
    }

    private static long touches(long bytes) {
        return Math.clamp(Math.ceilDiv(bytes, TOUCH_STRIDE), 1, ROW_TOUCHES);
    }

    private void touch(MemorySegment from, long offset, long bytes) {
        long end = offset + Math.min(bytes, ROW_TOUCHES * TOUCH_STRIDE);
        long sum = 0;
        for (long at = offset; at < end; at += TOUCH_STRIDE) {
            sum += from.get(ValueLayout.JAVA_BYTE, at);
        }
        touched += sum;
    }

    /**
     * {@return the index, from 0, of the row or run that the latest {@link #copyRows} or {@link #copyRuns} reached: an
     * exception is about it}
     */
    public int lastPiece() {
        return lastPiece;
    }

    /**
     * Touches the first pages of a span that is read through the mapping, so that the CPU fetches them before the copy.
     *
     * @param span the bytes to copy soon
     */
    public void touch(Span span) {
        if (!byCall && span.file() == lastFile && isWhole(lastFile)) {
            try {
                touch(span.base(), span.byteOffset(), span.byteSize());
            } catch (InternalError _) {
                // The copy meets the same fault and explains it.
            }
        }
    }

    /**
     * Explains a fault under a mapping.
     *
     * @param fault what the JVM threw
     * @return the error itself, if the last file read still has its size
     * @throws UncheckedIOException if the file has shrunk; names it and both sizes
     */
    public InternalError explain(InternalError fault) {
        if (lastFile != null) {
            lastFile.checkUnchanged();
        }
        return fault;
    }

    /**
     * Explains an error of a file that was closed too early.
     *
     * @param error what the JVM threw
     * @return an error that names the last file read, if that is closed; otherwise the error itself
     */
    public IllegalStateException explain(IllegalStateException error) {
        return lastFile == null || !lastFile.closed ? error : new IllegalStateException(lastFile.location()
                + ": the file was closed before its last read: close the loader before the store", error);
    }

    /** Returns the file if it is to be read by call. Decides once per {@link #DECIDE_EVERY} reads, one or in bulk. */
    private @Nullable MappedFile readByCall(@Nullable MappedFile file, int reads) {
        untilDecision -= reads;
        if (file != lastFile || untilDecision <= 0 || file != null && file.isChanged()) {
            decide(file);
        }
        return byCall ? file : null;
    }

    private void decide(@Nullable MappedFile file) {
        lastFile = file;
        untilDecision = DECIDE_EVERY;
        if (file == null) {
            byCall = false;
        } else {
            if (user != null) {
                file.users.add(user);
            }
            file.refresh();
            byCall = Posix.AVAILABLE && (mode == ReadMode.PREAD || mode == ReadMode.AUTO && !file.isWarm());
        }
    }

    /** Frees the scratch memory. Calling it again does nothing. */
    @Override
    public void close() {
        scratch.close();
    }
}
