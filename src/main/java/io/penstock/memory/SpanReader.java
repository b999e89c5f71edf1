package io.penstock.memory;

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
    private static final int TOUCH_AHEAD = 2;

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
            return span;
        }
        MemorySegment memory = scratch.of(span.byteSize());
        span.file().read(span.byteOffset(), memory, 0, span.byteSize(), callState);
        local.set(memory, 0, span.byteSize());
        return local;
    }

    /**
     * Copies rows, one behind the other, as fast as the memory gives them: while a row is copied, the first byte of the
     * one after the next is read, so that its page walk and first cache miss are over when its turn comes.
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
        if (readsByCall(rows.file(), count)) {
            for (int i = 0; i < count; i++, at += rowBytes) {
                lastRow = indices[i];
                rows.file().read(rows.offset(lastRow), target, at, rowBytes, callState);
            }
            return;
        }
        int last = rowBytes == 0 ? 0 : count - TOUCH_AHEAD;
        try {
            if (last > 0) {
                touch(rows, indices[1]);
            }
            for (int i = 0; i < count; i++, at += rowBytes) {
                if (i < last) {
                    touch(rows, indices[i + TOUCH_AHEAD]);
                }
                lastRow = indices[i];
                MemorySegment.copy(from, rows.offset(lastRow), target, at, rowBytes);
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
        MemorySegment from = in.segment();
        long at = targetOffset;
        if (readsByCall(in.file(), count)) {
            for (int i = 0; i < count; at += sizes[i++]) {
                lastRow = i;
                in.file().read(offsets[i], target, at, sizes[i], callState);
            }
            return at - targetOffset;
        }
        try {
            for (int i = 0; i < count; at += sizes[i++]) {
                lastRow = i;
                if (i + TOUCH_AHEAD < count && sizes[i + TOUCH_AHEAD] > 0) {
                    touched += from.get(ValueLayout.JAVA_BYTE, offsets[i + TOUCH_AHEAD]);
                }
                MemorySegment.copy(from, offsets[i], target, at, sizes[i]);
            }
        } catch (InternalError fault) {
            throw explain(fault);
        }
        return at - targetOffset;
    }

    /** A row that there is not is for its copy to complain of. */
    private void touch(Rows rows, long row) {
        if (rows.has(row)) {
            touched += rows.segment().get(ValueLayout.JAVA_BYTE, rows.offset(row));
        }
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
     * Reads one byte of a span, if spans of its file are read through the mapping, so that the CPU has begun to fetch
     * it when it is copied.
     *
     * @param span what will be copied soon
     */
    public void touch(Span span) {
        if (span.byteSize() > 0 && !byCall && span.file() == lastFile) {
            try {
                touched += span.segment().get(ValueLayout.JAVA_BYTE, span.byteOffset());
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
            lastFile.checkSize();
        }
        return fault;
    }

    /** Decided once for {@link #DECIDE_EVERY} reads, whether they are asked for one by one or many at once. */
    private boolean readsByCall(MappedFile file, int reads) {
        untilDecision -= reads;
        if (file != lastFile || untilDecision <= 0) {
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
