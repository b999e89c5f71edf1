package io.penstock.io;

import io.penstock.memory.Scratch;
import io.penstock.os.Posix;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Brings the bytes of spans to their place, by mapping or by {@code pread}, for one thread at a time.
 *
 * <p>Owns a little native memory: {@link #close} frees it. Allocates nothing on the heap once it is warm.
 */
public final class SpanReader implements AutoCloseable {

    /** Reads of one file until page cache and size are asked about again, if {@link MappedFile#refresh} is due. */
    private static final int DECIDE_EVERY = 256;
    /** Rows whose first bytes are asked for together, before any of them is copied. */
    private static final int GROUP = 8;
    /** Asked for of one group: about as many cache misses as a CPU keeps under way at once. */
    private static final int GROUP_TOUCHES = 12;
    /** Asked for of one row: one byte in each of its first pages. The hardware fetches ahead within a page. */
    private static final int ROW_TOUCHES = 4;
    private static final int TOUCH_STRIDE = 4096;

    private final ReadMode mode;
    private final Arena callStateArena = Arena.ofShared();
    private final MemorySegment callState = callStateArena.allocate(Posix.CALL_STATE);
    private final Span local = new Span();
    private final Scratch scratch = new Scratch();
    private MappedFile lastFile;
    private boolean byCall;
    private int untilDecision = 1;
    private long lastRow = -1;
    /** Keeps {@link #touch} from being optimised away. */
    @SuppressWarnings("UnusedVariable")
    private long touched;
    private boolean closed;

    /**
     * A reader for one thread.
     *
     * @param mode how to read
     */
    public SpanReader(ReadMode mode) {
        this.mode = mode;
    }

    /**
     * Copies a span's bytes.
     *
     * @param span what to copy
     * @param target where to; native memory, which must not be freed while this runs: a read goes to its address
     * @param targetOffset the first byte to write
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it. The JVM may raise a fault under
     *     a mapping as late as at the caller, as an {@link InternalError}: it is for {@link #explain}
     * @throws IndexOutOfBoundsException if the span or the target range is out of bounds
     */
    public void copy(Span span, MemorySegment target, long targetOffset) {
        if (readsByCall(span.file(), 1)) {
            span.file().read(span.byteOffset(), target, targetOffset, span.byteSize(), callState);
            return;
        }
        try {
            MemorySegment.copy(span.segment(), span.byteOffset(), target, targetOffset, span.byteSize());
        } catch (InternalError fault) {
            throw explain(fault);
        }
    }

    /**
     * The span's bytes where Java code can read them without a cold page: the span itself when it is read through the
     * mapping, otherwise a span of this reader's scratch memory, valid until the next call. A caller that reads a
     * mapping in a loop of its own passes an {@link InternalError} it meets to {@link #explain}.
     *
     * @param span what will be read
     * @return the bytes
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public Span local(Span span) {
        if (!readsByCall(span.file(), 1)) {
            return span;   // whose segment() requires its bytes
        }
        MemorySegment memory = scratch.of(span.byteSize());
        span.file().read(span.byteOffset(), memory, 0, span.byteSize(), callState);
        local.set(memory, 0, span.byteSize());
        return local;
    }

    /**
     * Copies rows, one behind the other, as fast as the memory gives them. Rows are taken in groups: a byte of the
     * first pages of each is read before the first is copied, so that their page walks and cache misses overlap, where
     * a copy by itself waits for one row's after the other's.
     *
     * @param rows what to copy from
     * @param indices which rows
     * @param count how many of the indices
     * @param target where to; native memory, which must not be freed while this runs: a read goes to its address
     * @param targetOffset the first byte to write
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     * @throws IndexOutOfBoundsException if there is no such row, or the target is too small
     */
    public void copyRows(Rows rows, long[] indices, int count, MemorySegment target, long targetOffset) {
        long rowBytes = rows.rowBytes();
        MemorySegment from = rows.segment();
        long at = targetOffset;
        lastRow = count == 0 ? lastRow : indices[0];
        if (readsByCall(rows.file(), count)) {
            for (int i = 0; i < count; i++, at += rowBytes) {
                lastRow = indices[i];
                rows.file().read(rows.offset(lastRow), target, at, rowBytes, callState);
            }
            return;
        }
        if (rows.file() != null && rows.file().isSparse()) {
            require(rows, indices, count);
        }
        int group = Math.clamp(GROUP_TOUCHES / touches(rowBytes), 1, GROUP);
        try {
            for (int i = 0; i < count;) {
                int end = Math.min(count, i + group);
                for (int j = i; j < end; j++) {
                    lastRow = indices[j];
                    // A row that there is not is for its copy to complain of.
                    if (rows.has(indices[j])) {
                        touch(from, rows.offset(indices[j]), rowBytes);
                    }
                }
                for (; i < end; i++, at += rowBytes) {
                    lastRow = indices[i];
                    MemorySegment.copy(from, rows.offset(lastRow), target, at, rowBytes);
                }
            }
        } catch (InternalError fault) {
            throw explain(fault);
        }
    }

    /**
     * Copies runs of bytes that are scattered over one file or one piece of memory, one behind the other, as
     * {@link #copyRows} does.
     *
     * @param in any span of the file or the memory
     * @param offsets where each run starts, counted as the span's offset is
     * @param sizes the bytes of each run
     * @param count how many runs
     * @param target where to; native memory, which must not be freed while this runs: a read goes to its address
     * @param targetOffset the first byte to write
     * @return bytes written
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     * @throws IndexOutOfBoundsException if there are no such bytes, or the target is too small
     */
    public long copyRuns(Span in, long[] offsets, long[] sizes, int count, MemorySegment target, long targetOffset) {
        MemorySegment from = in.base();
        long at = targetOffset;
        lastRow = 0;
        if (readsByCall(in.file(), count)) {
            for (int i = 0; i < count; at += sizes[i++]) {
                lastRow = i;
                in.file().read(offsets[i], target, at, sizes[i], callState);
            }
            return at - targetOffset;
        }
        if (in.file() != null && in.file().isSparse()) {
            require(in.file(), offsets, sizes, count);
        }
        try {
            for (int i = 0; i < count;) {
                int end = i;
                for (long touches = 0; end < count && end < i + GROUP && touches < GROUP_TOUCHES; end++) {
                    lastRow = end;
                    touch(from, offsets[end], sizes[end]);
                    touches += touches(sizes[end]);
                }
                for (; i < end; at += sizes[i++]) {
                    lastRow = i;
                    MemorySegment.copy(from, offsets[i], target, at, sizes[i]);
                }
            }
        } catch (InternalError fault) {
            throw explain(fault);
        }
        return at - targetOffset;
    }

    /** Has all rows fetched, before any is waited for. */
    private void require(Rows rows, long[] indices, int count) {
        for (int i = 0; i < count; i++) {
            if (rows.has(indices[i])) {
                rows.file().prefetch(rows.offset(indices[i]), rows.rowBytes());
            }
        }
        for (int i = 0; i < count; i++) {
            lastRow = indices[i];
            rows.file().require(rows.offset(lastRow), rows.rowBytes());
        }
    }

    private void require(MappedFile file, long[] offsets, long[] sizes, int count) {
        for (int i = 0; i < count; i++) {
            file.prefetch(offsets[i], sizes[i]);
        }
        for (int i = 0; i < count; i++) {
            lastRow = i;
            file.require(offsets[i], sizes[i]);
        }
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
     * The row that {@link #copyRows} came to, or the run that {@link #copyRuns} did: what an exception is about.
     *
     * @return its index
     */
    public long lastRow() {
        return lastRow;
    }

    /**
     * Reads a byte of a span's first pages, if spans of its file are read through the mapping, so that the CPU has
     * begun to fetch them when they are copied.
     *
     * @param span what will be copied soon
     */
    public void touch(Span span) {
        if (!byCall && span.file() == lastFile && (lastFile == null || !lastFile.isSparse())) {
            try {
                touch(span.segment(), span.byteOffset(), span.byteSize());
            } catch (InternalError _) {
                // The copy will meet the same fault, and says what it means.
            }
        }
    }

    /**
     * What a fault under a mapping means.
     *
     * @param fault what the JVM threw
     * @return the error itself, if the file that was read last still has its size
     * @throws UncheckedIOException if it has shrunk; names the file and both sizes
     */
    public InternalError explain(InternalError fault) {
        if (lastFile != null) {
            lastFile.checkUnchanged();
        }
        return fault;
    }

    /** Decided once for {@link #DECIDE_EVERY} reads, whether they are asked for one by one or many at once. */
    private boolean readsByCall(MappedFile file, int reads) {
        untilDecision -= reads;
        if (file != lastFile || untilDecision <= 0 || file != null && file.isChanged()) {
            decide(file);
        }
        return byCall;
    }

    private void decide(MappedFile file) {
        lastFile = file;
        untilDecision = DECIDE_EVERY;
        if (file == null) {
            byCall = false;
        } else {
            file.refresh();
            byCall = Posix.AVAILABLE && (mode == ReadMode.PREAD || mode == ReadMode.AUTO && !file.isWarm());
        }
    }

    /** Frees the scratch memory. Calling it again does nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            callStateArena.close();
            scratch.close();
        }
    }
}
