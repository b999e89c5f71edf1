package io.penstock.dataset;

import io.penstock.memory.MappedFile;
import io.penstock.memory.ReadMode;
import io.penstock.memory.Span;
import io.penstock.memory.SpanReader;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/**
 * Reads the samples of a dataset for one worker: locates, then copies or shows the bytes, by the read mode it was given.
 *
 * <p>One thread at a time. Owns a little native memory: {@link #close} frees it. Allocates nothing on the heap once it
 * is warm.
 */
public final class SampleReader implements AutoCloseable {

    private final Dataset dataset;
    private final SpanReader reader;
    private final Span span = new Span();
    private long sample = -1;

    /**
     * A reader for one worker.
     *
     * @param dataset what to read
     * @param mode how
     */
    public SampleReader(Dataset dataset, ReadMode mode) {
        this.dataset = dataset;
        this.reader = new SpanReader(mode);
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
     * The sample that was asked for last: the one that an exception is about.
     *
     * @return its index, or -1 before the first
     */
    public long sample() {
        return sample;
    }

    /**
     * Bytes of samples that were asked for since this was made.
     *
     * @return the count
     */
    public long bytesRead() {
        return reader.bytesRead();
    }

    /**
     * Says where one field of one sample is, without reading it.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @return the bytes as the store has them; reused by the next call
     */
    public Span locate(long sample, int field) {
        this.sample = sample;
        dataset.locate(sample, field, span);
        return span;
    }

    /**
     * Copies one field of one sample.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @param target where to; native memory
     * @param targetOffset the first byte to write
     * @return bytes written
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public long copy(long sample, int field, MemorySegment target, long targetOffset) {
        locate(sample, field);
        reader.copy(span, target, targetOffset);
        return span.byteSize();
    }

    /**
     * Shows one field of one sample where Java code may read it in a loop of its own; an {@link InternalError} met
     * there goes to {@link #explain}.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     * @return the bytes, valid until the next call
     * @throws UncheckedIOException if the file cannot be read or has shrunk; names it
     */
    public Span local(long sample, int field) {
        return reader.local(locate(sample, field));
    }

    /**
     * What a fault under a mapping means: see {@link MappedFile#checkSize}.
     *
     * @param fault what the JVM threw
     * @return the error itself, if the file that was read last still has its size
     * @throws UncheckedIOException if it has shrunk; names the file and both sizes
     */
    public InternalError explain(InternalError fault) {
        return reader.explain(fault);
    }

    /** Frees the reader's native memory. Calling it again does nothing. */
    @Override
    public void close() {
        reader.close();
    }
}
