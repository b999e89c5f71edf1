// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.BatchReader;
import io.penstock.dataset.source.SampleGenerator;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.Samples;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.FetchWaits;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Reads the samples of a dataset for one worker in a given read mode, in batches or one by one.
 *
 * <p>For one thread, except {@link #stop}. Owns a little native memory: {@link #close} frees it. Allocates nothing on
 * the heap once warm.
 */
public final class SampleReader implements BatchReader, AutoCloseable {

    private final Samples samples;
    private final ReadContext context;
    private final FieldReader[] readers;
    private final Span part = new Span();
    private final Span own = new Span();
    private final IntegerArrays integers = new IntegerArrays();
    /** The field of the last location. */
    private int field;
    /** The field of {@link #locateAll}. */
    private int batchField;

    public SampleReader(Samples samples, ReadMode mode) {
        this(samples, mode, null, System::nanoTime);
    }

    /**
     * Creates a reader for one worker that verifies what it reads against checksum sidecars.
     *
     * @param verified the blocks that all workers have verified; null to verify nothing
     * @param nanoTime the clock of stage times, like {@link System#nanoTime}
     */
    public SampleReader(Samples samples, ReadMode mode, @Nullable VerifiedReads verified, LongSupplier nanoTime) {
        this.samples = samples;
        this.context = new ReadContext(samples, mode, verified, new StageClock(nanoTime));
        List<TensorSpec> fields = samples.fields();
        this.readers = new FieldReader[fields.size()];
        try {
            for (int f = 0; f < readers.length; f++) {
                readers[f] = FieldReader.open(samples.source(f), fields.get(f), samples.size(), context);
            }
        } catch (Throwable t) {
            context.close();
            throw t;
        }
    }

    @Override
    public Samples samples() {
        return samples;
    }

    /** Returns the time spent on decoded, mapped and generated samples, for this reader's thread. */
    public StageClock clock() {
        return context.clock;
    }

    /** Returns what was read of remote files, and the waits for that, for this reader's thread. */
    public FetchWaits waits() {
        return context.reader.waits();
    }

    /**
     * Stops the reader's thread: the next sample that it locates or decodes throws {@link CancellationException}. Any
     * thread may call this.
     */
    public void stop() {
        context.stop();
    }

    public void resume() {
        context.resume();
    }

    public boolean isStopped() {
        return context.isStopped();
    }

    /** Names whom this reader works for, empty once that is closed: a file that it reads cannot be closed before. */
    public void user(Supplier<Optional<String>> user) {
        context.reader.user(user);
    }

    /**
     * Sets the source of random numbers for {@linkplain SampleMap maps} and {@linkplain SampleGenerator generators}.
     * Before that call, and for samples read outside a plan, they have none.
     */
    public void random(SampleRandom random) {
        context.random(random);
    }

    /** Returns the last requested sample, which an exception is about; -1 before the first. */
    public long sample() {
        return context.sample();
    }

    @Override
    public Span locate(BatchPlan plan, int row, int field) {
        context.at(plan, row);
        this.field = field;
        return readers[field].locate(plan.sample(row));
    }

    @Override
    public RandomGenerator random(BatchPlan plan, long step) {
        return context.chance(plan, step);
    }

    /** Locates a field of a sample outside any order, which has no random numbers. The next call reuses the span. */
    public Span locate(long sample, int field) {
        context.at(sample);
        this.field = field;
        return readers[field].locate(sample);
    }

    @Override
    public long byteSize(long sample, int field) {
        context.at(sample);
        return readers[field].byteSize(sample);
    }

    @Override
    public void locateAll(BatchPlan plan, int field) {
        this.field = field;
        batchField = field;
        readers[field].locateAll(plan);
    }

    @Override
    public long locatedBytes(int row) {
        return readers[batchField].locatedBytes(row);
    }

    @Override
    public Span located(int row) {
        field = batchField;
        return readers[field].located(row);
    }

    /** Copies a field of a sample, outside any order, and returns the bytes written. Maps have no random numbers. */
    public long copy(long sample, int field, MemorySegment target, long targetOffset) {
        context.at(sample);
        return readers[field].copy(sample, target, targetOffset);
    }

    @Override
    public long copyAll(BatchPlan plan, int field, MemorySegment target, long targetOffset) {
        return readers[field].copyAll(plan, target, targetOffset);
    }

    /**
     * Checks whether a sample can be read: locates, verifies and decodes its fields, as a read at this position in the
     * epoch's order would. Throws {@link BadSampleException} if it is corrupt or cannot be decoded.
     */
    public void check(long sample, long position) {
        context.at(sample, position, context.newLook());
        for (FieldReader reader : readers) {
            reader.locate(sample);
        }
    }

    @Override
    public void about(long sample) {
        context.about(sample);
    }

    @Override
    public void check(Span located) {
        try {
            context.verify(located);
        } catch (MalformedStoreException e) {
            throw context.bad(e);
        }
    }

    @Override
    public Span ownSpan() {
        return own;
    }

    @Override
    public void copyPart(Span from, long skipBytes, long bytes, MemorySegment target, long targetOffset) {
        part.setPart(from, skipBytes, bytes);
        context.reader.copy(part, target, targetOffset);
        readers[field].normalize(target, targetOffset, bytes);
    }

    @Override
    public int[] readIntegers(Span from, int count, DType dtype) {
        part.setPart(from, 0, (long) count * dtype.byteSize());
        return integers.ints(context.reader.local(part), dtype);
    }

    @Override
    public long[] readLongs(Span from, int count, DType dtype) {
        part.setPart(from, 0, (long) count * dtype.byteSize());
        return integers.longs(context.reader.local(part), dtype);
    }

    @Override
    public void prefetch(long sample, int field) {
        context.about(sample);
        readers[field].prefetch(sample);
    }

    /**
     * Explains a fault under a mapping, or an access to a closed file: returns an error that names a file that has
     * shrunk or was closed, otherwise the error itself. HotSpot raises a fault after the access, so it may surface
     * outside the call that made the access.
     */
    public Throwable explain(Throwable error) {
        if (error instanceof InternalError fault) {
            try {
                context.reader.explain(fault);
            } catch (UncheckedIOException shrunk) {
                shrunk.addSuppressed(fault);
                return shrunk;
            }
        }
        return error instanceof IllegalStateException closed ? context.reader.explain(closed) : error;
    }

    @Override
    public void close() {
        context.close();
    }
}
