// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.PenstockException;
import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs user code on the values of another reader. */
final class MappedReader extends MadeReader {

    private final FieldReader input;
    /** Null if the map needs nothing beside its input. */
    private final @Nullable FieldReader beside;
    private final SampleMap map;
    /** Null if the map needs none. */
    private final SampleMap.@Nullable Mapper session;
    private final long step;
    /** The first of the map's parts; -1 if it has none. */
    private final int firstPart;
    private final Span part = new Span();
    /** Whether the session was told of all values of the present batch. */
    private boolean isPlanned;
    private int made;

    MappedReader(FieldSource.Mapped source, FieldReader input, @Nullable FieldReader beside, TensorSpec spec,
            ReadContext context) {
        super(spec, context);
        this.input = input;
        this.beside = beside;
        this.map = source.map();
        this.session = map.open().orElse(null);
        this.step = source.step();
        List<String> parts = map.parts();
        this.firstPart = parts.isEmpty() ? -1 : context.clock.addParts(parts);
    }

    @Override
    long copyAll(BatchPlan plan, MemorySegment target, long targetOffset) {
        if (session == null || beside == null || isVariable || !session.plans()) {
            return super.copyAll(plan, target, targetOffset);
        }
        for (int row = 0; row < plan.count(); row++) {
            context.at(plan, row);
            plan(session, beside, plan.sample(row), row, target, targetOffset + row * unitBytes);
        }
        isPlanned = true;
        try {
            return super.copyAll(plan, target, targetOffset);
        } finally {
            isPlanned = false;
        }
    }

    private void plan(SampleMap.Mapper to, FieldReader other, long sample, int row, MemorySegment target,
            long targetOffset) {
        Span value = other.value(sample, false);
        try {
            to.beside(value.segment(), value.byteOffset(), value.byteSize());
            to.plan(row, target, targetOffset);
        } catch (IOException | PenstockException e) {
            throw context.bad(spec, e);
        }
    }

    /** A value of varying length is as long as its input. */
    @Override
    long prepare(long sample) {
        return !isVariable ? unitBytes
                : input.unitBytes == 0 ? 0 : input.byteSize(sample) / input.unitBytes * unitBytes;
    }

    @Override
    void make(long sample, long bytes, MemorySegment target, long targetOffset) {
        if (session != null && map.readsRanges()) {
            makeOfRange(session, sample, bytes, target, targetOffset);
            return;
        }
        Span value = input.value(sample, map.readsInPlace());
        Span other = beside == null ? null : beside.value(sample, false);
        long begin = context.clock.now();
        try {
            if (session != null && other != null) {
                session.beside(other.segment(), other.byteOffset(), other.byteSize());
            }
            run(value, begin, bytes, target, targetOffset);
            context.clock.transformedSince(begin, context.sample());
        } catch (IOException | PenstockException e) {
            throw context.bad(spec, e);
        } catch (RuntimeException e) {
            throw context.failed(spec, "map", e);
        }
    }

    /** Reads only the bytes that the session chooses. */
    private void makeOfRange(SampleMap.Mapper to, long sample, long bytes, MemorySegment target, long targetOffset) {
        Span whole = input.locate(sample);
        Span other = beside == null ? null : beside.value(sample, false);
        long begin = context.clock.now();
        try {
            if (other != null) {
                to.beside(other.segment(), other.byteOffset(), other.byteSize());
            }
            if (!isPlanned && to.plans()) {
                to.plan(0, target, targetOffset);
            }
            long size = whole.byteSize();
            long first = to.begin(size, context.chance(step));
            part.setPart(whole, first, to.end(size) - first);
            Span value = part.byteSize() == 0 ? part : context.reader.local(part, first, to.runs());
            to.map(value.segment(), value.byteOffset() - first, size, context.chance(step), target, targetOffset,
                    bytes, PartClock.NONE);
            context.clock.transformedSince(begin, context.sample());
        } catch (UncheckedIOException | BadSampleException e) {
            throw e;
        } catch (IOException | PenstockException e) {
            throw context.bad(spec, e);
        } catch (RuntimeException e) {
            throw context.failed(spec, "map", e);
        }
    }

    private void run(Span value, long begin, long bytes, MemorySegment target, long targetOffset) throws IOException {
        boolean isTimed = firstPart >= 0 && (made++ & StageClock.EVERY - 1) == 0;
        PartClock clock = isTimed ? context.clock.timing(firstPart, begin) : PartClock.NONE;
        if (session != null) {
            session.map(value.segment(), value.byteOffset(), value.byteSize(), context.chance(step), target,
                    targetOffset, bytes, clock);
            return;
        }
        Tensor in = input.tensor(value.segment(), value.byteOffset(), value.byteSize());
        Tensor out = tensor(target, targetOffset, bytes);
        if (isTimed) {
            map.map(in, context.chance(step), out, clock);
        } else {
            map.map(in, context.chance(step), out);
        }
    }

    @Override
    public void close() {
        if (session != null) {
            session.close();
        }
        super.close();
    }
}
