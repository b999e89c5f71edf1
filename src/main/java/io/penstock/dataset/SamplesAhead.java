package io.penstock.dataset;

import io.penstock.io.ReadAhead;
import io.penstock.io.Rows;
import io.penstock.io.Span;

/**
 * Reads samples ahead: finds where their stored bytes are and has the OS begin to read them, as {@link ReadAhead} does.
 *
 * <p>It is advice and nothing else. A sample that cannot be found is left to whoever reads it, who will be told why. A
 * field that a store has to decode to find is left out.
 *
 * <p>One thread at a time; allocates nothing once it is warm.
 */
public final class SamplesAhead {

    /** What the fields of the dataset are made from. */
    private final Dataset[] sources;
    private final int[] fields;
    private final Rows[] rows;
    private final boolean[] left;
    private final ReadAhead ahead = new ReadAhead();
    private final Span span = new Span();

    /**
     * Nothing read ahead yet.
     *
     * @param dataset where samples are
     */
    public SamplesAhead(Dataset dataset) {
        int count = dataset.fields().size();
        sources = new Dataset[count];
        fields = new int[count];
        rows = new Rows[count];
        left = new boolean[count];
        for (int f = 0; f < count; f++) {
            Dataset source = dataset;
            int field = f;
            for (FieldMap map = source.map(field); map != null; map = source.map(field)) {
                source = map.source();
                field = map.field();
            }
            sources[f] = source;
            fields[f] = field;
            rows[f] = source.rows(field);
        }
    }

    /**
     * Adds samples, field by field. They are asked for at {@link #flush} at the latest.
     *
     * @param samples the samples' indices
     * @param count how many of them
     */
    public void add(long[] samples, int count) {
        for (int f = 0; f < sources.length; f++) {
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
        if (rows[f] != null) {
            left[f] = rows[f].file() == null;
            for (int i = 0; i < count && !left[f]; i++) {
                ahead.add(rows[f].file(), rows[f].offset(samples[i]), rows[f].rowBytes());
            }
            return;
        }
        boolean inParts = sources[f].hasParts(fields[f]);
        for (int i = 0; i < count && !left[f]; i++) {
            int parts = inParts ? sources[f].parts(samples[i], fields[f]) : 1;
            for (int p = 0; p < parts && !left[f]; p++) {
                if (inParts) {
                    sources[f].locatePart(samples[i], fields[f], p, span);
                } else {
                    sources[f].locate(samples[i], fields[f], span);
                }
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
