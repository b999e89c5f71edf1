// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.error.PenstockException;
import io.penstock.internal.Scratch;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads raw values. Many are copied at once, so that their cache misses overlap. */
final class StoredReader extends FieldReader {

    private static final int MAX_RUNS = 64;
    private static final int MAX_GATHERED = 512;

    private final FieldSource.Place place;
    /** The values as rows; null if they have no constant stride. */
    private final @Nullable Rows rows;
    private final Span first = new Span();
    private final Span ahead = new Span();
    /** The places of values copied at once. */
    private final long[] offsets = new long[MAX_RUNS];
    private final long[] sizes = new long[MAX_RUNS];
    private final long[] places = new long[MAX_GATHERED];
    private Span[] batchSpans = {};
    private final Scratch copied = new Scratch();

    StoredReader(FieldSource.Stored source, TensorSpec spec, long samples, ReadContext context) {
        super(spec, context);
        this.place = source.place();
        this.rows = source.rows();
        if (rows != null && (rows.rowBytes() != unitBytes || rows.count() != samples)) {
            throw new IllegalStateException(spec + ": found " + rows.count() + " rows of " + rows.rowBytes()
                    + " bytes, expected " + samples + " of " + unitBytes);
        }
    }

    @Override
    Span locate(long sample) {
        locate(sample, span);
        return span;
    }

    private void locate(long sample, Span into) {
        context.checkWanted();
        context.locate(place, sample, into);
        context.checkSize(into.byteSize(), spec, unitBytes);
    }

    @Override
    long measure(long sample) {
        locate(sample, span);
        return span.byteSize();
    }

    @Override
    long copy(long sample, MemorySegment target, long targetOffset) {
        locate(sample, span);
        context.reader.copy(span, target, targetOffset);
        normalize(target, targetOffset, span.byteSize());
        return span.byteSize();
    }

    @Override
    Span value(long sample, boolean inPlace) {
        locate(sample, span);
        if (inPlace && !areTruths) {
            return context.reader.local(span);
        }
        long bytes = span.byteSize();
        MemorySegment value = copied.of(bytes);
        context.reader.copy(span, value, 0);
        normalize(value, 0, bytes);
        span.set(value, 0, bytes);
        return span;
    }

    @Override
    long copyAll(BatchPlan plan, MemorySegment target, long targetOffset) {
        long bytes = rows == null ? gather(plan.samples(), plan.count(), target, targetOffset)
                : copyRows(rows, plan.samples(), plan.count(), target, targetOffset);
        normalize(target, targetOffset, bytes);
        return bytes;
    }

    private long copyRows(Rows rows, long[] samples, int count, MemorySegment target, long targetOffset) {
        for (int i = 0; i < count && context.verifies(); i++) {
            context.about(samples[i]);
            locate(samples[i], span);
        }
        try {
            context.reader.copyRows(rows, samples, count, target, targetOffset);
        } finally {
            if (count > 0) {
                context.about(samples[context.reader.lastPiece()]);
            }
        }
        return count * rows.rowBytes();
    }

    /** Has the place copy all values, if they are of one size and it can. */
    private long gather(long[] samples, int count, MemorySegment target, long targetOffset) {
        context.checkWanted();
        return !spec.isVariable() && place.gather(samples, count, unitBytes, target, targetOffset, places)
                ? count * unitBytes : copyLocated(samples, count, target, targetOffset);
    }

    /** Locates all values, then copies those of one file at once, as fast as rows. */
    private long copyLocated(long[] samples, int count, MemorySegment target, long targetOffset) {
        long at = targetOffset;
        int begin = 0;
        int runs = 0;
        for (int i = 0; i < count; i++) {
            context.about(samples[i]);
            locate(samples[i], span);
            if (runs == MAX_RUNS || runs > 0 && !span.isBeside(first)) {
                at += copyRuns(samples, begin, runs, target, at);
                begin = i;
                runs = 0;
            }
            if (runs == 0) {
                first.setPart(span, 0, span.byteSize());
            }
            offsets[runs] = span.byteOffset();
            sizes[runs++] = span.byteSize();
        }
        return at + copyRuns(samples, begin, runs, target, at) - targetOffset;
    }

    private long copyRuns(long[] samples, int begin, int runs, MemorySegment target, long targetOffset) {
        if (runs == 0) {
            return 0;
        }
        try {
            return context.reader.copyRuns(first, offsets, sizes, runs, target, targetOffset);
        } catch (RuntimeException e) {
            context.about(samples[begin + context.reader.lastPiece()]);
            throw e;
        }
    }

    @Override
    void locateAll(BatchPlan plan, long[] bytes) {
        if (batchSpans.length < plan.count()) {
            batchSpans = Stream.generate(Span::new).limit(plan.count()).toArray(Span[]::new);
        }
        for (int i = 0; i < plan.count(); i++) {
            context.about(plan.sample(i));
            locate(plan.sample(i), batchSpans[i]);
            bytes[i] = batchSpans[i].byteSize();
        }
        // A separate loop, so short that the CPU overlaps many of its cache misses.
        for (int i = 0; i < plan.count(); i++) {
            context.reader.touch(batchSpans[i]);
        }
    }

    @Override
    Span located(int i) {
        context.about(batch.sample(i));
        return batchSpans[i];
    }

    @Override
    void prefetch(long sample) {
        try {
            place.locate(sample, ahead);
            context.reader.touch(ahead);
        } catch (UncheckedIOException | PenstockException _) {
            // A hint: reading the sample reports the error.
        }
    }

    @Override
    public void close() {
        copied.close();
    }
}
