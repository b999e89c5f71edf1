// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.Samples;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import java.util.stream.IntStream;

/**
 * Locates the bytes of files that samples will be read from.
 *
 * <p>What it gives is only advice. A sample that cannot be located is skipped; reading it reports the error. For a
 * field that a store must decode to locate, it gives what the store would decode, or skips it.
 *
 * <p>One thread at a time; allocates nothing once warm.
 */
public final class SampleRanges {

    @FunctionalInterface
    public interface Taker {

        void take(MappedFile file, long offset, long bytes);
    }

    /** The stored bytes of each field. */
    private final FieldSource.InParts[] fields;
    /** The fields to skip: not in files, or in a copy that is decoded when they are located. */
    private final boolean[] left;
    private final Taker taker;
    private final Span span = Span.ahead();

    /** Creates a locator that gives to one taker. */
    public SampleRanges(Samples samples, Taker taker) {
        fields = IntStream.range(0, samples.fields().size()).mapToObj(f -> samples.source(f).bytes())
                .toArray(FieldSource.InParts[]::new);
        left = new boolean[fields.length];
        this.taker = taker;
    }

    /** Locates the first {@code count} samples, field by field. */
    public void locate(long[] samples, int count) {
        for (int f = 0; f < fields.length; f++) {
            if (!left[f]) {
                try {
                    locate(samples, count, f);
                } catch (RuntimeException | InternalError _) {
                    // A hint: reading the sample reports the error.
                }
            }
        }
    }

    private void locate(long[] samples, int count, int f) {
        for (int i = 0; i < count && !left[f]; i++) {
            int parts = fields[f].count().applyAsInt(samples[i]);
            for (int p = 0; p < parts && !left[f]; p++) {
                fields[f].place().locate(samples[i], p, span);
                MappedFile file = span.file();
                left[f] = file == null || file.isWritten();
                if (file != null && !left[f]) {
                    taker.take(file, span.byteOffset(), span.byteSize());
                }
            }
        }
    }
}
