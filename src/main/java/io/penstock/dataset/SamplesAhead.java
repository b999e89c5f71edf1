package io.penstock.dataset;

import io.penstock.io.ReadAhead;
import io.penstock.io.Span;
import java.util.stream.IntStream;

/**
 * Reads samples ahead: finds where their stored bytes are and has the OS begin to read them, as {@link ReadAhead} does.
 *
 * <p>It is advice and nothing else. A sample that cannot be found is left to whoever reads it, who will be told why. A
 * field that a store has to decode to find is left out.
 *
 * <p>One thread at a time; allocates nothing once it is warm.
 */
public final class SamplesAhead {

    /** The stored bytes that each field is made from. */
    private final FieldSource.InParts[] fields;
    /** Fields that are not in files. */
    private final boolean[] left;
    private final ReadAhead ahead = new ReadAhead();
    private final Span span = new Span();

    /**
     * Nothing read ahead yet.
     *
     * @param dataset where samples are
     */
    public SamplesAhead(Dataset dataset) {
        fields = IntStream.range(0, dataset.fields().size()).mapToObj(f -> dataset.source(f).bytes())
                .toArray(FieldSource.InParts[]::new);
        left = new boolean[fields.length];
    }

    /**
     * Adds samples, field by field. They are asked for at {@link #flush} at the latest.
     *
     * @param samples the samples' indices
     * @param count how many of them
     */
    public void add(long[] samples, int count) {
        for (int f = 0; f < fields.length; f++) {
            if (!left[f]) {
                try {
                    add(samples, count, f);
                } catch (RuntimeException | InternalError _) {
                    // A hint: reading the sample will meet the same, and say so.
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

    /** Asks for what was added. */
    public void flush() {
        ahead.flush();
    }

    /**
     * What was asked for so far.
     *
     * @return bytes, whole pages; does not grow while all that is added is in the page cache
     */
    public long bytes() {
        return ahead.bytes();
    }

    /**
     * What was asked for so far.
     *
     * @return ranges that do not touch
     */
    public long ranges() {
        return ahead.ranges();
    }
}
