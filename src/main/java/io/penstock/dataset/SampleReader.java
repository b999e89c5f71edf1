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
import java.util.concurrent.CancellationException;
import java.util.function.LongSupplier;

/**
 * Reads the samples of a dataset for one worker, by the read mode it was given: locates a field of a sample, then
 * copies its bytes or reads them as integers.
 *
 * <p>One thread at a time. Owns a little native memory: {@link #close} frees it. Allocates nothing on the heap once it
 * is warm.
 */
public final class SampleReader implements AutoCloseable {

    /** The most integers that {@link #readIntegers} and {@link #readLongs} read at once: what fits an array. */
    public static final int MAX_INTEGERS = IntegerArray.MAX_LENGTH;

    private final Dataset dataset;
    private final ReadContext context;
    private final FieldReader[] readers;
    private final Span part = new Span();
    private final Span own = new Span();
    private final IntegerArray integers = new IntegerArray();
    private final LongArray longs = new LongArray();
    /** What was located last, and the field that it is of. */
    private Span span = new Span();
    private int field;

    /**
     * A reader for one worker.
     *
     * @param dataset what to read
     * @param mode how
     */
    public SampleReader(Dataset dataset, ReadMode mode) {
        this(dataset, mode, null, System::nanoTime);
    }

    /**
     * A reader for one worker that checks what it reads against the checksums beside the files.
     *
     * @param dataset what to read
     * @param mode how
     * @param verified what all workers have checked; null to check nothing
     * @param nanoTime what {@link #clock} tells the time by, as {@link System#nanoTime} does
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
     * The dataset that this reads.
     *
     * @return the dataset
     */
    public Dataset dataset() {
        return dataset;
    }

    /**
     * What is spent on samples that are decoded, mapped or generated.
     *
     * @return the clock, of this reader's thread
     */
    public StageClock clock() {
        return context.clock;
    }

    /**
     * Ends what the reader's thread is at: the next sample that it locates or decodes throws a
     * {@link CancellationException}. May be called by any thread.
     */
    public void stop() {
        context.stop();
    }

    /** Reads on after {@link #stop}. */
    public void goOn() {
        context.goOn();
    }

    /**
     * Whether the reader was told to stop.
     *
     * @return true between {@link #stop} and {@link #goOn}
     */
    public boolean isStopped() {
        return context.isStopped();
    }

    /**
     * Sets where {@linkplain SampleMap maps} and {@linkplain SampleGenerator generators} have their random numbers
     * from. Until then they have none, nor for a sample that is read by itself, not as one of a plan.
     *
     * @param random numbers by position and step, for this reader's thread
     */
    public void random(SampleRandom random) {
        context.random(random);
    }

    /**
     * The sample that was asked for last: the one that an exception is about.
     *
     * @return its index, or -1 before the first
     */
    public long sample() {
        return context.sample();
    }

    /**
     * Says where the bytes of one field of one sample of a batch are: without reading them, unless they must be
     * decoded.
     *
     * @param plan the batch
     * @param row the sample's row in it
     * @param field the field's position in the dataset
     * @return the bytes as the field has them; reused by the next call
     * @throws IllegalStateException if the dataset gives another number of bytes than the field has
     * @throws BadSampleException if they are damaged, or cannot be decoded; names the file or the sample
     * @throws UncheckedIOException if a file cannot be read or has shrunk; names it
     */
    public Span locate(BatchPlan plan, int row, int field) {
        context.at(plan, row);
        return find(plan.sample(row), field);
    }

    /**
     * The same of a sample outside of any order, which has no random numbers.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @return the bytes as the field has them; reused by the next call
     * @throws BadSampleException as {@link #locate(BatchPlan, int, int)}; so the other errors
     */
    public Span locate(long sample, int field) {
        context.at(sample);
        return find(sample, field);
    }

    private Span find(long sample, int field) {
        this.field = field;
        Span found = readers[field].locate(sample);
        // A reference is stored only when it changes: the collector's write barrier costs more than the comparison.
        if (found != span) {
            span = found;
        }
        return found;
    }

    /**
     * The bytes that one field of one sample has, without decoding it where its length can be told before.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @return the size
     * @throws IllegalStateException if the dataset gives another number of bytes than the field has
     * @throws BadSampleException if the value is damaged, or cannot be decoded; names the file or the sample
     */
    public long byteSize(long sample, int field) {
        context.at(sample);
        return readers[field].byteSize(sample);
    }

    /**
     * Finds out about one field of all samples of a batch, for a collator that must know every length before it writes
     * the first: where each is, which {@link #located} gives, and its bytes, by {@link #locatedBytes}. Has the CPU
     * fetch where each begins, so that their cache misses overlap.
     *
     * @param plan the batch; not to be changed as long as {@link #located} is asked
     * @param field the field's position in the dataset
     * @throws IllegalStateException if the dataset gives another number of bytes than the field has
     * @throws BadSampleException if the value is damaged, or cannot be decoded; names the file or the sample
     */
    public void locateAll(BatchPlan plan, int field) {
        this.field = field;
        readers[field].locateAll(plan);
    }

    /**
     * The bytes that a sample of {@link #locateAll} has.
     *
     * @param i its place among them
     * @return the size
     */
    public long locatedBytes(int i) {
        return readers[field].locatedBytes(i);
    }

    /**
     * Where a sample of {@link #locateAll} is. One that must be decoded is decoded by this call.
     *
     * @param i its place among them
     * @return the bytes as the field has them, valid until anything else is located
     * @throws BadSampleException if they cannot be decoded; names the sample
     */
    public Span located(int i) {
        return readers[field].located(i);
    }

    /**
     * Copies one field of one sample, outside of any order: a map of it has no random numbers.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @param target where to; native memory
     * @param targetOffset the first byte to write
     * @return bytes written
     * @throws BadSampleException if the sample is damaged, or cannot be decoded; names the file or the sample
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public long copy(long sample, int field, MemorySegment target, long targetOffset) {
        context.at(sample);
        return readers[field].copy(sample, target, targetOffset);
    }

    /**
     * Copies one field of the samples of a batch, one behind the other; where the samples are
     * {@linkplain FieldSource#rows rows}, as fast as the memory gives them.
     *
     * @param plan the batch
     * @param field the field's position in the dataset
     * @param target where to; native memory
     * @param targetOffset the first byte to write
     * @return bytes written
     * @throws BadSampleException if the sample is damaged, or cannot be decoded; names the file or the sample
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public long copyAll(BatchPlan plan, int field, MemorySegment target, long targetOffset) {
        return readers[field].copyAll(plan, target, targetOffset);
    }

    /**
     * Looks whether a sample can be read: finds its fields, checks and decodes them, as reading them would.
     *
     * @param sample the sample's index
     * @param position the position in the epoch's order that it is to be read at
     * @throws BadSampleException if it is damaged or cannot be decoded
     * @throws UncheckedIOException if a file cannot be read or has shrunk; names it
     */
    public void check(long sample, long position) {
        context.at(sample, position, context.newLook());
        for (FieldReader reader : readers) {
            reader.locate(sample);
        }
    }

    /**
     * Copies a part of what {@link #locate(long, int)} found last.
     *
     * @param skipBytes bytes to leave out at its start
     * @param bytes bytes to copy
     * @param target where to; native memory
     * @param targetOffset the first byte to write
     * @throws IndexOutOfBoundsException if the part is not within it
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public void copyPart(long skipBytes, long bytes, MemorySegment target, long targetOffset) {
        copyPart(span, skipBytes, bytes, target, targetOffset);
    }

    /**
     * Reads the first elements of what {@link #locate(long, int)} found last: integers of at most 32 bits.
     *
     * @param count how many, at most {@link #MAX_INTEGERS}
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
     * The same, widened.
     *
     * @param count how many, at most {@link #MAX_INTEGERS}
     * @return the values in a reused array that may be longer than they are; valid until the next call
     * @throws IndexOutOfBoundsException as {@link #readIntegers(int)}; so the other errors
     */
    public long[] readLongs(int count) {
        return readLongs(span, count, readers[field].spec.dtype());
    }

    /**
     * Says which sample a collator is at that locates by itself: the one that {@link #sample} names from now on.
     *
     * @param sample the sample's index
     */
    public void about(long sample) {
        context.about(sample);
    }

    /**
     * Checks bytes that a collator located by itself, before it reads them, if this reader checks what it reads.
     *
     * @param located the bytes, of the sample that {@link #about} was told
     * @throws BadSampleException if they are damaged; names the file
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
     * A span for a collator that locates by itself: one of this reader, which nothing else uses.
     *
     * @return the same at every call
     */
    public Span ownSpan() {
        return own;
    }

    /**
     * Copies bytes that the dataset located.
     *
     * @param from the bytes
     * @param skipBytes bytes to leave out at their start
     * @param bytes bytes to copy
     * @param target where to; native memory
     * @param targetOffset the first byte to write
     * @throws IndexOutOfBoundsException if the part is not within them
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public void copyPart(Span from, long skipBytes, long bytes, MemorySegment target, long targetOffset) {
        part.setPart(from, skipBytes, bytes);
        context.reader.copy(part, target, targetOffset);
        readers[field].normalize(target, targetOffset, bytes);
    }

    /**
     * Reads the first elements of bytes that the dataset located: integers of at most 32 bits.
     *
     * @param from the bytes
     * @param count how many elements, at most {@link #MAX_INTEGERS}
     * @param dtype their type
     * @return the values, as {@link #readIntegers(int)} gives them; valid until the next call
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
     * The same, widened.
     *
     * @param from the bytes
     * @param count how many elements, at most {@link #MAX_INTEGERS}
     * @param dtype their type
     * @return the values, as {@link #readLongs(int)} gives them; valid until the next call
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
     * Starts bringing a sample's first bytes into the CPU's cache, if they are read through the mapping: a hint that a
     * loop over scattered samples gives one sample ahead.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     */
    public void prefetch(long sample, int field) {
        context.about(sample);
        readers[field].prefetch(sample);
    }

    /**
     * What went wrong, when a fault under a mapping is met. HotSpot raises it some time after the access, so it may
     * surface outside of the call that made the access.
     *
     * @param error what was caught
     * @return an error that names the file and both sizes, if a file has shrunk; otherwise the error itself
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
        return error;
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
