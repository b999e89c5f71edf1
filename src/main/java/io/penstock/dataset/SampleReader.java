package io.penstock.dataset;

import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.store.integrity.VerifiedReads;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Reads the samples of a dataset for one worker in a given read mode: locates a field of a sample, then copies its
 * bytes or reads them as integers.
 *
 * <p>One thread at a time. Owns a little native memory: {@link #close} frees it. Allocates nothing on the heap once
 * warm.
 */
public final class SampleReader implements AutoCloseable {

    /** The most integers that {@link #readIntegers} and {@link #readLongs} read at once: the longest array. */
    public static final int MAX_INTEGERS = IntegerArray.MAX_LENGTH;

    private final Dataset dataset;
    private final ReadContext context;
    private final FieldReader[] readers;
    private final Span part = new Span();
    private final Span own = new Span();
    private final IntegerArray integers = new IntegerArray();
    private final LongArray longs = new LongArray();
    /** The last location and its field. */
    private Span span = new Span();
    private int field;

    /**
     * Creates a reader for one worker.
     *
     * @param dataset the dataset
     * @param mode how to read
     */
    public SampleReader(Dataset dataset, ReadMode mode) {
        this(dataset, mode, null, System::nanoTime);
    }

    /**
     * Creates a reader for one worker that verifies what it reads against checksum sidecars.
     *
     * @param dataset the dataset
     * @param mode how to read
     * @param verified the blocks that all workers have verified; null to verify nothing
     * @param nanoTime the time source of {@link #clock}, like {@link System#nanoTime}
     */
    public SampleReader(Dataset dataset, ReadMode mode, VerifiedReads verified, LongSupplier nanoTime) {
        this.dataset = dataset;
        this.context = new ReadContext(dataset, mode, verified, new StageClock(nanoTime));
        List<TensorSpec> fields = dataset.fields();
        this.readers = new FieldReader[fields.size()];
        for (int f = 0; f < readers.length; f++) {
            readers[f] = FieldReader.open(dataset.source(f), fields.get(f), dataset.size(), context);
        }
    }

    /**
     * Returns the dataset.
     *
     * @return the dataset
     */
    public Dataset dataset() {
        return dataset;
    }

    /**
     * Returns the time spent on decoded, mapped and generated samples.
     *
     * @return the clock, for this reader's thread
     */
    public StageClock clock() {
        return context.clock;
    }

    /**
     * Stops the reader's thread: the next sample that it locates or decodes throws {@link CancellationException}. Any
     * thread may call this.
     */
    public void stop() {
        context.stop();
    }

    /** Resumes after {@link #stop}. */
    public void goOn() {
        context.goOn();
    }

    /**
     * Tells whether the reader is stopped.
     *
     * @return true between {@link #stop} and {@link #goOn}
     */
    public boolean isStopped() {
        return context.isStopped();
    }

    /**
     * Sets the source of random numbers for {@linkplain SampleMap maps} and {@linkplain SampleGenerator generators}.
     * Before that call, and for samples read outside a plan, they have none.
     *
     * @param random numbers by position and step, for this reader's thread
     */
    public void random(SampleRandom random) {
        context.random(random);
    }

    /**
     * Names whom this reader works for: a file that it reads cannot be closed before.
     *
     * @param user its name for messages; empty once it is closed
     */
    public void user(Supplier<Optional<String>> user) {
        context.reader.user(user);
    }

    /**
     * Returns the last requested sample: the one that an exception is about.
     *
     * @return its index, or -1 before the first
     */
    public long sample() {
        return context.sample();
    }

    /**
     * Locates the bytes of a field of a batch's sample, without reading them unless they must be decoded.
     *
     * @param plan the batch
     * @param row the sample's row in it
     * @param field the field's position in the dataset
     * @return the field's bytes; the next call reuses the span
     * @throws IllegalStateException if the dataset gives a number of bytes that does not fit the field
     * @throws BadSampleException if they are corrupt or cannot be decoded; names the file or the sample
     * @throws UncheckedIOException if a file cannot be read or has shrunk; names it
     */
    public Span locate(BatchPlan plan, int row, int field) {
        context.at(plan, row);
        return find(plan.sample(row), field);
    }

    /**
     * Locates a field of a sample outside any order, which has no random numbers.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @return the field's bytes; the next call reuses the span
     * @throws BadSampleException as {@link #locate(BatchPlan, int, int)}; so the other errors
     */
    public Span locate(long sample, int field) {
        context.at(sample);
        return find(sample, field);
    }

    private Span find(long sample, int field) {
        this.field = field;
        Span found = readers[field].locate(sample);
        // Store a reference only if it changes: the collector's write barrier costs more than the comparison.
        if (found != span) {
            span = found;
        }
        return found;
    }

    /**
     * Returns the size of a field of a sample, without decoding it if the length is known before.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @return bytes
     * @throws IllegalStateException if the dataset gives a number of bytes that does not fit the field
     * @throws BadSampleException if the value is corrupt or cannot be decoded; names the file or the sample
     */
    public long byteSize(long sample, int field) {
        context.at(sample);
        return readers[field].byteSize(sample);
    }

    /**
     * Locates a field of all samples of a batch, for a collator that needs every length before it writes.
     * {@link #located} returns each location, {@link #locatedBytes} its size. Prefetches the start of each, so that
     * cache misses overlap.
     *
     * @param plan the batch; do not change it while {@link #located} is in use
     * @param field the field's position in the dataset
     * @throws IllegalStateException if the dataset gives a number of bytes that does not fit the field
     * @throws BadSampleException if the value is corrupt or cannot be decoded; names the file or the sample
     */
    public void locateAll(BatchPlan plan, int field) {
        this.field = field;
        readers[field].locateAll(plan);
    }

    /**
     * Returns the size of a sample of {@link #locateAll}.
     *
     * @param i its index among them
     * @return bytes
     */
    public long locatedBytes(int i) {
        return readers[field].locatedBytes(i);
    }

    /**
     * Returns the location of a sample of {@link #locateAll}, decoding it if needed.
     *
     * @param i its index among them
     * @return the field's bytes, valid until the next location
     * @throws BadSampleException if they cannot be decoded; names the sample
     */
    public Span located(int i) {
        return readers[field].located(i);
    }

    /**
     * Copies a field of a sample, outside any order: maps have no random numbers.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @param target the target, native memory
     * @param targetOffset the offset to write at
     * @return bytes written
     * @throws BadSampleException if the sample is corrupt or cannot be decoded; names the file or the sample
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public long copy(long sample, int field, MemorySegment target, long targetOffset) {
        context.at(sample);
        return readers[field].copy(sample, target, targetOffset);
    }

    /**
     * Copies a field of a batch's samples consecutively; {@linkplain FieldSource#rows rows} at memory speed.
     *
     * @param plan the batch
     * @param field the field's position in the dataset
     * @param target the target, native memory
     * @param targetOffset the offset to write at
     * @return bytes written
     * @throws BadSampleException if the sample is corrupt or cannot be decoded; names the file or the sample
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public long copyAll(BatchPlan plan, int field, MemorySegment target, long targetOffset) {
        return readers[field].copyAll(plan, target, targetOffset);
    }

    /**
     * Checks whether a sample can be read: locates, verifies and decodes its fields, as a read would.
     *
     * @param sample the sample's index
     * @param position its position in the epoch's order
     * @throws BadSampleException if it is corrupt or cannot be decoded
     * @throws UncheckedIOException if a file cannot be read or has shrunk; names it
     */
    public void check(long sample, long position) {
        context.at(sample, position, context.newLook());
        for (FieldReader reader : readers) {
            reader.locate(sample);
        }
    }

    /**
     * Copies a part of the bytes last located by {@link #locate(long, int)}.
     *
     * @param skipBytes bytes to skip at the start
     * @param bytes bytes to copy
     * @param target the target, native memory
     * @param targetOffset the offset to write at
     * @throws IndexOutOfBoundsException if the part is out of bounds
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public void copyPart(long skipBytes, long bytes, MemorySegment target, long targetOffset) {
        copyPart(span, skipBytes, bytes, target, targetOffset);
    }

    /**
     * Reads the first elements last located by {@link #locate(long, int)}, as integers of at most 32 bits.
     *
     * @param count the number of elements, at most {@link #MAX_INTEGERS}
     * @return the values in a reused array that may be longer than they are; signed types are sign-extended,
     *     {@code u32} keeps its bits; valid until the next call
     * @throws IndexOutOfBoundsException if there are fewer
     * @throws IllegalArgumentException if the field's dtype does not fit
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public int[] readIntegers(int count) {
        return readIntegers(span, count, readers[field].spec.dtype());
    }

    /**
     * Same as {@code readIntegers}, widened to 64 bits.
     *
     * @param count the number of elements, at most {@link #MAX_INTEGERS}
     * @return the values in a reused array that may be longer than they are; valid until the next call
     * @throws IndexOutOfBoundsException as {@link #readIntegers(int)}; so the other errors
     */
    public long[] readLongs(int count) {
        return readLongs(span, count, readers[field].spec.dtype());
    }

    /**
     * Sets the sample that {@link #sample} returns, for a collator that locates by itself.
     *
     * @param sample the sample's index
     */
    public void about(long sample) {
        context.about(sample);
    }

    /**
     * Verifies bytes that a collator located by itself, before it reads them, if this reader verifies.
     *
     * @param located the bytes, of the sample passed to {@link #about}
     * @throws BadSampleException if they are corrupt; names the file
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public void check(Span located) {
        try {
            context.verify(located);
        } catch (UncheckedIOException e) {
            throw context.classified(e);
        }
    }

    /**
     * Returns a span of this reader for a collator that locates by itself; nothing else uses it.
     *
     * @return the same span at every call
     */
    public Span ownSpan() {
        return own;
    }

    /**
     * Copies bytes located by the dataset.
     *
     * @param from the bytes
     * @param skipBytes bytes to skip at the start
     * @param bytes bytes to copy
     * @param target the target, native memory
     * @param targetOffset the offset to write at
     * @throws IndexOutOfBoundsException if the part is out of bounds
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public void copyPart(Span from, long skipBytes, long bytes, MemorySegment target, long targetOffset) {
        part.setPart(from, skipBytes, bytes);
        context.reader.copy(part, target, targetOffset);
        readers[field].normalize(target, targetOffset, bytes);
    }

    /**
     * Reads the first elements of bytes located by the dataset, as integers of at most 32 bits.
     *
     * @param from the bytes
     * @param count the number of elements, at most {@link #MAX_INTEGERS}
     * @param dtype their type
     * @return the values, as in {@link #readIntegers(int)}; valid until the next call
     * @throws IndexOutOfBoundsException if there are fewer
     * @throws IllegalArgumentException if the dtype does not fit
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public int[] readIntegers(Span from, int count, DType dtype) {
        part.setPart(from, 0, (long) count * dtype.byteSize());
        try {
            return integers.read(context.reader.local(part), dtype);
        } catch (InternalError fault) {
            throw context.reader.explain(fault);
        }
    }

    /**
     * Same as {@code readIntegers}, widened to 64 bits.
     *
     * @param from the bytes
     * @param count the number of elements, at most {@link #MAX_INTEGERS}
     * @param dtype their type
     * @return the values, as in {@link #readLongs(int)}; valid until the next call
     * @throws IndexOutOfBoundsException as {@link #readIntegers(Span, int, DType)}; so the other errors
     */
    public long[] readLongs(Span from, int count, DType dtype) {
        part.setPart(from, 0, (long) count * dtype.byteSize());
        try {
            return longs.read(context.reader.local(part), dtype);
        } catch (InternalError fault) {
            throw context.reader.explain(fault);
        }
    }

    /**
     * Prefetches a sample's first bytes into the CPU cache, if they are read through the mapping. A loop over scattered
     * samples calls this one sample ahead.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     */
    public void prefetch(long sample, int field) {
        context.about(sample);
        readers[field].prefetch(sample);
    }

    /**
     * Explains a fault under a mapping, or an access to a closed file. HotSpot raises a fault after the access, so it
     * may surface outside the call that made the access.
     *
     * @param error the caught error
     * @return if a file has shrunk or was closed, an error that names it; otherwise the error itself
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

    /** Frees the reader's native memory. Calling it again does nothing. */
    @Override
    public void close() {
        for (FieldReader reader : readers) {
            reader.close();
        }
        context.close();
    }
}
