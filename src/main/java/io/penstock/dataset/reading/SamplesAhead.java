package io.penstock.dataset.reading;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.io.ReadAhead;
import io.penstock.io.Span;
import java.util.stream.IntStream;

/**
 * Reads samples ahead: locates their stored bytes and asks the OS to start reading them with {@link ReadAhead}.
 *
 * <p>This is only advice. A sample that cannot be located is skipped; reading it reports the error. Fields that a store
 * must decode to locate are skipped.
 *
 * <p>One thread at a time; allocates nothing once warm.
 */
public final class SamplesAhead {

    /** The stored bytes of each field. */
    private final FieldSource.InParts[] fields;
    /** The fields to skip: not in files. */
    private final boolean[] left;
    private final ReadAhead ahead = new ReadAhead();
    private final Span span = new Span();

    /**
     * Creates an empty read-ahead.
     *
     * @param dataset the samples
     */
    public SamplesAhead(Dataset dataset) {
        fields = IntStream.range(0, dataset.fields().size()).mapToObj(f -> dataset.source(f).bytes())
                .toArray(FieldSource.InParts[]::new);
        left = new boolean[fields.length];
    }

    /**
     * Adds samples, field by field. They are requested at {@link #flush} at the latest.
     *
     * @param samples the samples' indices
     * @param count the number of indices to use
     */
    public void add(long[] samples, int count) {
        for (int f = 0; f < fields.length; f++) {
            if (!left[f]) {
                try {
                    add(samples, count, f);
                } catch (RuntimeException | InternalError _) {
                    // A hint: reading the sample reports the error.
                }
            }
        }
    }

    private void add(long[] samples, int count, int f) {
        for (int i = 0; i < count && !left[f]; i++) {
            int parts = fields[f].count().applyAsInt(samples[i]);
            for (int p = 0; p < parts && !left[f]; p++) {
                fields[f].place().locate(samples[i], p, span);
                left[f] = span.file() == null;
                if (!left[f]) {
                    ahead.add(span.file(), span.byteOffset(), span.byteSize());
                }
            }
        }
    }

    /** Requests what was added. */
    public void flush() {
        ahead.flush();
    }

    /**
     * What was asked for so far.
     *
     * @return bytes in whole pages; does not grow while everything added is in the page cache
     */
    public long bytes() {
        return ahead.bytes();
    }

    /**
     * What was asked for so far.
     *
     * @return the count; adjacent ranges count as one
     */
    public long ranges() {
        return ahead.ranges();
    }
}
