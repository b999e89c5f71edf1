// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.Samples;
import io.penstock.io.MappedFile;
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

    /** Creates an empty read-ahead. */
    public SamplesAhead(Samples samples) {
        fields = IntStream.range(0, samples.fields().size()).mapToObj(f -> samples.source(f).bytes())
                .toArray(FieldSource.InParts[]::new);
        left = new boolean[fields.length];
    }

    /** Adds the first {@code count} samples, field by field. They are requested at {@link #flush} at the latest. */
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
                MappedFile file = span.file();
                left[f] = file == null;
                if (file != null) {
                    ahead.add(file, span.byteOffset(), span.byteSize());
                }
            }
        }
    }

    /** Requests what was added. */
    public void flush() {
        ahead.flush();
    }

    /** Returns the bytes requested so far, in whole pages; what is in the page cache does not count. */
    public long bytes() {
        return ahead.bytes();
    }

    /** Tells whether samples are in remote files. */
    public boolean isRemote() {
        return ahead.isRemote();
    }

    /** Returns the number of ranges requested so far; adjacent ranges count as one. */
    public long ranges() {
        return ahead.ranges();
    }
}
