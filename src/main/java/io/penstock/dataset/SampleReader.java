package io.penstock.dataset;

import io.penstock.codec.MissingLibraryException;
import io.penstock.decode.Decoder;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.ReadMode;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.memory.DType;
import io.penstock.memory.Scratch;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.store.integrity.BlockVerifier;
import io.penstock.store.integrity.VerifiedReads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CancellationException;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

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

    private static final int MAX_RUNS = 64;
    /** The position of a sample that is read by itself. */
    private static final long NOWHERE = -1;

    private final Dataset dataset;
    private final SpanReader reader;
    /** Checks blocks before they are read; null if they are taken as they are. */
    private final BlockVerifier verifier;
    private final Span span = new Span();
    private final Span part = new Span();
    private final Span ahead = new Span();
    private final Span own = new Span();
    /** Where samples are that are copied at once. */
    private final long[] offsets = new long[MAX_RUNS];
    private final long[] sizes = new long[MAX_RUNS];
    private final IntegerArray integers = new IntegerArray();
    private final LongArray longs = new LongArray();
    private final TensorSpec[] fields;
    /** Whether a field is of truth values, which a batch has as 0 and 1, whatever is stored. */
    private final boolean[] truths;
    /** Bytes of each field of every sample; bytes of a row where the number of rows varies. */
    private final long[] fieldBytes;
    /** Each field as rows, where the dataset says so. */
    private final Rows[] rows;
    /** This worker's decoder of each field; null where the stored bytes are the field's. */
    private final Decoder.Session[] decoders;
    /** Whether a field's value may lie in several runs of bytes. */
    private final boolean[] inParts;
    /** Whether a field's value is one run of bytes as it is stored: not mapped, not in parts, not decoded. */
    private final boolean[] asStored;
    /** What users' code makes of fields of other samples; null where there is none. */
    private final FieldMap[] maps;
    /** Reads what is mapped. */
    private final SampleReader[] sources;
    /** What {@link #locateAll} was asked for, and what it found. */
    private BatchPlan batch;
    private long[] batchBytes = {};
    private Span[] batchSpans = {};
    private SampleRandom random = SampleRandom.NONE;
    /** This reader's and its sources'. */
    private final StageClock clock;
    /** What the decoder takes. */
    private final Scratch stored = new Scratch();
    /** What the decoder made, where it is not written into the batch. */
    private final Scratch decoded = new Scratch();
    private long storedBytes;
    private long sample = -1;
    /** Where in the epoch's order the sample is that is being read. */
    private long position = NOWHERE;
    private int field;
    private volatile boolean stopped;

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
        this(dataset, mode, verified, new StageClock(nanoTime));
    }

    private SampleReader(Dataset dataset, ReadMode mode, VerifiedReads verified, StageClock clock) {
        this.clock = clock;
        this.dataset = dataset;
        this.fields = dataset.fields().toArray(TensorSpec[]::new);
        this.fieldBytes = new long[fields.length];
        this.truths = new boolean[fields.length];
        for (int f = 0; f < fields.length; f++) {
            truths[f] = fields[f].dtype() == DType.BOOL;
            fieldBytes[f] = fields[f].isVariable() ? fields[f].rowBytes() : fields[f].byteSize();
        }
        this.rows = new Rows[fields.length];
        for (int f = 0; f < fields.length; f++) {
            rows[f] = checked(dataset.rows(f), f);
        }
        this.reader = new SpanReader(mode);
        this.verifier = verified == null ? null : new BlockVerifier(verified, reader);
        this.inParts = new boolean[fields.length];
        this.asStored = new boolean[fields.length];
        this.decoders = new Decoder.Session[fields.length];
        this.maps = new FieldMap[fields.length];
        this.sources = new SampleReader[fields.length];
        for (int f = 0; f < fields.length; f++) {
            inParts[f] = dataset.hasParts(f);
            Decoder decoder = dataset.decoder(f);
            decoders[f] = decoder == null ? null : decoder.open();
            maps[f] = dataset.map(f);
            sources[f] = maps[f] == null ? null : new SampleReader(maps[f].source(), mode, verified, clock);
            asStored[f] = maps[f] == null && !inParts[f] && decoders[f] == null;
        }
    }

    private Rows checked(Rows found, int f) {
        if (found != null && (found.rowBytes() != fieldBytes[f] || found.count() != dataset.size())) {
            throw new IllegalStateException(fields[f] + ": found " + found.count() + " rows of " + found.rowBytes()
                    + " bytes, expected " + dataset.size() + " of " + fieldBytes[f]);
        }
        return found;
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
     * What is spent on samples that are decoded or mapped.
     *
     * @return the clock, of this reader's thread
     */
    public StageClock clock() {
        return clock;
    }

    /**
     * Ends what the reader's thread is at: the next sample that it locates or decodes throws a
     * {@link CancellationException}. May be called by any thread.
     */
    public void stop() {
        stopped = true;
    }

    /** Reads on after {@link #stop}. */
    public void goOn() {
        stopped = false;
    }

    /**
     * Whether the reader was told to stop.
     *
     * @return true between {@link #stop} and {@link #goOn}
     */
    public boolean isStopped() {
        return stopped;
    }

    /**
     * Sets where {@linkplain SampleMap maps} have their random numbers from. Until then they have none, nor for a
     * sample that is read by itself, not as one of a plan.
     *
     * @param random numbers by position and step, for this reader's thread
     */
    public void random(SampleRandom random) {
        this.random = random;
        for (SampleReader source : sources) {
            if (source != null) {
                source.random(random);
            }
        }
    }

    /**
     * The sample that was asked for last: the one that an exception is about.
     *
     * @return its index, or -1 before the first
     */
    public long sample() {
        return sample;
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
        return locate(plan.sample(row), plan.position(row), field);
    }

    /**
     * Says where the bytes of one field of one sample are, outside of any order: a map of it has no random numbers.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @return the bytes as the field has them; reused by the next call
     * @throws IllegalStateException if the dataset gives another number of bytes than the field has
     * @throws BadSampleException if they are damaged, or cannot be decoded; names the file or the sample
     * @throws UncheckedIOException if a file cannot be read or has shrunk; names it
     */
    public Span locate(long sample, int field) {
        return locate(sample, NOWHERE, field);
    }

    private Span locate(long sample, long position, int field) {
        this.field = field;
        this.position = position;
        if (asStored[field]) {
            locate(sample, field, span);
        } else {
            long bytes = measure(sample, field);
            make(sample, field, bytes, decoded.of(bytes), 0);
            span.set(decoded.of(bytes), 0, bytes);
        }
        return span;
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
        if (!fields[field].isVariable()) {
            return fieldBytes[field];
        }
        return asStored[field] ? locate(sample, field).byteSize() : measure(sample, field);
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
        batch = plan;
        long[] samples = plan.samples();
        int count = plan.count();
        if (batchBytes.length < count) {
            batchBytes = new long[count];
            batchSpans = Stream.generate(Span::new).limit(count).toArray(Span[]::new);
        }
        for (int i = 0; i < count; i++) {
            if (asStored[field]) {
                locate(samples[i], field, batchSpans[i]);
                batchBytes[i] = batchSpans[i].byteSize();
            } else {
                batchBytes[i] = byteSize(samples[i], field);
            }
        }
        // In a loop of its own, which is so short that the CPU has many of its cache misses under way at once.
        for (int i = 0; asStored[field] && i < count; i++) {
            reader.touch(batchSpans[i]);
        }
    }

    /**
     * The bytes that a sample of {@link #locateAll} has.
     *
     * @param i its place among them
     * @return the size
     */
    public long locatedBytes(int i) {
        return batchBytes[i];
    }

    /**
     * Where a sample of {@link #locateAll} is. One that must be decoded is decoded by this call.
     *
     * @param i its place among them
     * @return the bytes as the field has them, valid until anything else is located
     * @throws BadSampleException if they cannot be decoded; names the sample
     */
    public Span located(int i) {
        if (!asStored[field]) {
            return locate(batch, i, field);
        }
        sample = batch.sample(i);
        return batchSpans[i];
    }

    /** The bytes of a value that is not as it is stored; {@link #make} of the same one follows, or nothing. */
    private long measure(long sample, int field) {
        this.sample = sample;
        checkWanted();
        if (maps[field] != null) {
            return mappedBytes(sample, field);
        }
        return inParts[field] ? partBytes(sample, field) : takeStored(sample, field);
    }

    /** Writes a value that was measured. */
    private void make(long sample, int field, long bytes, MemorySegment target, long targetOffset) {
        if (maps[field] != null) {
            map(sample, field, bytes, target, targetOffset);
        } else if (inParts[field]) {
            gather(sample, field, target, targetOffset);
        } else {
            decode(sample, field, bytes, target, targetOffset);
        }
        normalize(field, target, targetOffset, bytes);
    }

    private void normalize(int field, MemorySegment target, long targetOffset, long bytes) {
        if (truths[field]) {
            TruthValues.normalize(target, targetOffset, bytes);
        }
    }

    private void checkWanted() {
        if (stopped) {
            throw new CancellationException("sample " + sample + " is not wanted any more");
        }
    }

    private void locate(long sample, int field, Span into) {
        this.sample = sample;
        checkWanted();
        locateStored(sample, field, into);
        checkSize(into.byteSize(), fields[field], fieldBytes[field]);
    }

    private long partBytes(long sample, int field) {
        long bytes = 0;
        int parts = dataset.parts(sample, field);
        for (int p = 0; p < parts; p++) {
            locateStoredPart(sample, field, p);
            bytes += part.byteSize();
        }
        checkSize(bytes, fields[field], fieldBytes[field]);
        return bytes;
    }

    private void gather(long sample, int field, MemorySegment target, long targetOffset) {
        long at = targetOffset;
        int parts = dataset.parts(sample, field);
        for (int p = 0; p < parts; p++) {
            locateStoredPart(sample, field, p);
            reader.copy(part, target, at);
            at += part.byteSize();
        }
    }

    private void locateStored(long sample, int field, Span into) {
        try {
            dataset.locate(sample, field, into);
            verify(into);
        } catch (UncheckedIOException e) {
            throw classified(sample, e);
        }
    }

    private void locateStoredPart(long sample, int field, int p) {
        try {
            dataset.locatePart(sample, field, p, part);
            verify(part);
        } catch (UncheckedIOException e) {
            throw classified(sample, e);
        }
    }

    private void verify(Span located) {
        if (verifier != null) {
            verifier.check(located);
        }
    }

    /** Malformed is a sample's own fault; anything else may be otherwise the next time. */
    private static UncheckedIOException classified(long sample, UncheckedIOException e) {
        return e.getCause() instanceof MalformedStoreException bad ? new BadSampleException(sample, bad) : e;
    }

    /** Copies the stored bytes to where a decoder may take them; returns the bytes that they decode to. */
    private long takeStored(long sample, int field) {
        locateStored(sample, field, span);
        storedBytes = span.byteSize();
        long begin = clock.now();
        reader.copy(span, stored.of(storedBytes), 0);
        clock.read(clock.now() - begin);
        if (!fields[field].isVariable()) {
            return fieldBytes[field];
        }
        try {
            long bytes = decoders[field].byteSize(stored.of(storedBytes), storedBytes);
            checkSize(bytes, fields[field], fieldBytes[field]);
            return bytes;
        } catch (IOException e) {
            throw undecodable(sample, field, e);
        }
    }

    private void decode(long sample, int field, long bytes, MemorySegment target, long targetOffset) {
        long begin = clock.now();
        try {
            decoders[field].decode(stored.of(storedBytes), storedBytes, target, targetOffset, bytes);
            clock.decoded(clock.now() - begin);
        } catch (IOException e) {
            throw undecodable(sample, field, e);
        }
    }

    private UncheckedIOException undecodable(long sample, int field, IOException cause) {
        IOException named = new IOException(dataset.name(sample) + ", field '" + fields[field].name() + "': "
                + cause.getMessage(), cause);
        return cause instanceof MissingLibraryException ? new UncheckedIOException(named)
                : new BadSampleException(sample, named);
    }

    /** A field of varying length is as long as what it is made of. */
    private long mappedBytes(long sample, int field) {
        if (!fields[field].isVariable()) {
            return fieldBytes[field];
        }
        SampleReader source = sources[field];
        int from = maps[field].field();
        long rowBytes = source.fields[from].rowBytes();
        return rowBytes == 0 ? 0 : source.byteSize(sample, from) / rowBytes * fieldBytes[field];
    }

    private void map(long sample, int field, long bytes, MemorySegment target, long targetOffset) {
        FieldMap map = maps[field];
        SampleReader source = sources[field];
        TensorSpec from = source.fields[map.field()];
        long sourceBytes = source.locate(sample, position, map.field()).byteSize();
        boolean inPlace = map.map().readsInPlace() && !source.truths[map.field()];
        MemorySegment value = inPlace ? source.inPlace() : copied(source, sourceBytes);
        long begin = clock.now();
        try {
            SampleRandom chance = position == NOWHERE ? SampleRandom.NONE : random;
            map.map().map(tensor(value, from), chance.of(position, map.step()),
                    tensor(target.asSlice(targetOffset, bytes), fields[field]));
            clock.transformed(clock.now() - begin);
        } catch (IOException e) {
            throw undecodable(sample, field, e);
        } catch (RuntimeException e) {
            throw new IllegalStateException(dataset.name(sample) + ", field '" + fields[field].name()
                    + "': the map failed: " + e, e);
        }
    }

    private MemorySegment copied(SampleReader source, long bytes) {
        MemorySegment value = stored.of(bytes).asSlice(0, bytes);
        source.copyPart(0, bytes, value, 0);
        return value;
    }

    /** What {@link #locate(long, int)} found last; a copy of it only where a file is read by call. */
    private MemorySegment inPlace() {
        Span found = reader.local(span);
        return found.segment().asSlice(found.byteOffset(), found.byteSize());
    }

    /** All bytes of a value as the field has them. */
    private static Tensor tensor(MemorySegment value, TensorSpec spec) {
        long[] shape = spec.shape();
        if (spec.isVariable()) {
            shape[0] = spec.rowBytes() == 0 ? 0 : value.byteSize() / spec.rowBytes();
        }
        return Tensor.of(value, spec.dtype(), shape);
    }

    /** A dataset may be anyone's: its mistake must not become another row's bytes. */
    private void checkSize(long found, TensorSpec spec, long expected) {
        boolean fits = found == expected || spec.isVariable() && expected > 0 && found % expected == 0;
        if (!fits) {
            throw new IllegalStateException("sample " + sample + " has " + found + " bytes of " + spec + ", expected "
                    + (spec.isVariable() ? "a multiple of " : "") + expected);
        }
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
        return copy(sample, NOWHERE, field, target, targetOffset);
    }

    private long copy(long sample, long position, int field, MemorySegment target, long targetOffset) {
        this.position = position;
        if (!asStored[field]) {
            long bytes = measure(sample, field);
            make(sample, field, bytes, target, targetOffset);
            return bytes;
        }
        locate(sample, position, field);
        reader.copy(span, target, targetOffset);
        normalize(field, target, targetOffset, span.byteSize());
        return span.byteSize();
    }

    /**
     * Copies one field of the samples of a batch, one behind the other; where the samples are
     * {@linkplain Dataset#rows rows}, as fast as the memory gives them.
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
        long[] samples = plan.samples();
        int count = plan.count();
        if (rows[field] != null) {
            verifyRows(samples, count, field);
            try {
                reader.copyRows(rows[field], samples, count, target, targetOffset);
            } finally {
                sample = reader.lastRow();
            }
            normalize(field, target, targetOffset, count * rows[field].rowBytes());
            return count * rows[field].rowBytes();
        }
        if (asStored[field]) {
            long bytes = copyLocated(samples, count, field, target, targetOffset);
            normalize(field, target, targetOffset, bytes);
            return bytes;
        }
        long at = targetOffset;
        for (int i = 0; i < count; i++) {
            at += copy(samples[i], plan.position(i), field, target, at);
        }
        return at - targetOffset;
    }

    private void verifyRows(long[] samples, int count, int field) {
        for (int i = 0; i < count && verifier != null; i++) {
            locate(samples[i], field, span);
        }
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
        for (int f = 0; f < fields.length; f++) {
            locate(sample, position, f);
        }
    }

    /** Locates first, and copies those at once that are in one file: the copies are then as fast as those of rows. */
    private long copyLocated(long[] samples, int count, int field, MemorySegment target, long targetOffset) {
        long at = targetOffset;
        int first = 0;
        int runs = 0;
        for (int i = 0; i < count; i++) {
            locate(samples[i], field, span);
            if (runs == MAX_RUNS || runs > 0 && !span.isBeside(part)) {
                at += copyRuns(samples, first, runs, target, at);
                first = i;
                runs = 0;
            }
            if (runs == 0) {
                part.setPart(span, 0, span.byteSize());
            }
            offsets[runs] = span.byteOffset();
            sizes[runs++] = span.byteSize();
        }
        return at + copyRuns(samples, first, runs, target, at) - targetOffset;
    }

    private long copyRuns(long[] samples, int first, int runs, MemorySegment target, long targetOffset) {
        if (runs == 0) {
            return 0;
        }
        try {
            return reader.copyRuns(part, offsets, sizes, runs, target, targetOffset);
        } catch (RuntimeException e) {
            sample = samples[first + (int) reader.lastRow()];
            throw e;
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
        return readIntegers(span, count, fields[field].dtype());
    }

    /**
     * Reads the first elements of what {@link #locate(long, int)} found last: integers of at most 32 bits, widened.
     *
     * @param count how many, at most {@link #MAX_INTEGERS}
     * @return the values in a reused array that may be longer than they are; valid until the next call
     * @throws IndexOutOfBoundsException if there are fewer
     * @throws IllegalArgumentException if the field's dtype does not fit
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public long[] readLongs(int count) {
        return readLongs(span, count, fields[field].dtype());
    }

    /**
     * Says which sample a collator is at that locates by itself: the one that {@link #sample} names from now on.
     *
     * @param sample the sample's index
     */
    public void about(long sample) {
        this.sample = sample;
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
            verify(located);
        } catch (UncheckedIOException e) {
            throw classified(sample, e);
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
        reader.copy(part, target, targetOffset);
        normalize(field, target, targetOffset, bytes);
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
            return integers.read(reader.local(part), dtype);
        } catch (InternalError fault) {
            throw reader.explain(fault);
        }
    }

    /**
     * Reads the first elements of bytes that the dataset located: integers of at most 32 bits, widened.
     *
     * @param from the bytes
     * @param count how many elements, at most {@link #MAX_INTEGERS}
     * @param dtype their type
     * @return the values, as {@link #readLongs(int)} gives them; valid until the next call
     * @throws IndexOutOfBoundsException if there are fewer
     * @throws IllegalArgumentException if the dtype does not fit
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public long[] readLongs(Span from, int count, DType dtype) {
        part.setPart(from, 0, (long) count * dtype.byteSize());
        try {
            return longs.read(reader.local(part), dtype);
        } catch (InternalError fault) {
            throw reader.explain(fault);
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
        if (!asStored[field]) {
            return;
        }
        this.sample = sample;
        try {
            dataset.locate(sample, field, ahead);
            reader.touch(ahead);
        } catch (UncheckedIOException _) {
            // A hint: reading the sample will meet the same, and say so.
        }
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
                reader.explain(fault);
            } catch (UncheckedIOException shrunk) {
                shrunk.addSuppressed(fault);
                return shrunk;
            }
            for (SampleReader source : sources) {
                Throwable explained = source == null ? error : source.explain(error);
                if (explained != error) {
                    return explained;
                }
            }
        }
        return error;
    }

    /** Frees the reader's native memory. Calling it again does nothing. */
    @Override
    public void close() {
        for (Decoder.Session decoder : decoders) {
            if (decoder != null) {
                decoder.close();
            }
        }
        for (SampleReader source : sources) {
            if (source != null) {
                source.close();
            }
        }
        stored.close();
        decoded.close();
        if (verifier != null) {
            verifier.close();
        }
        reader.close();
    }
}
