// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.LongStream;

/**
 * The samples of a dataset that satisfy a condition, made by {@link Dataset#filter(String, Predicate)}. All samples are
 * tested once, before the first batch: so the size is known, and orders, ranks and states are exact. The result takes
 * one bit per sample and can be {@linkplain #save saved}.
 *
 * {@snippet :
 * Filtered english = documents.filter("english", sample -> isEnglish(sample.tensor("tokens")));
 * english.save(Path.of("english.filter"));
 * Filtered again = documents.filter(Path.of("english.filter"));      // tests no sample
 * }
 */
public final class Filtered implements Dataset {

    /** A multiple of 64, so that no two threads write one word. */
    private static final long RUN = 1024;

    private final Dataset base;
    private final String name;
    private final Selection selection;
    private final String digest;
    private final MaxLengths maxLengths = new MaxLengths();

    Filtered(Dataset base, String name, long[] words) {
        this.base = base;
        this.name = name;
        this.selection = new Selection(words);
        this.digest = FilterFile.digest(words);
        if (selection.size() == 0) {
            throw new IllegalArgumentException("filter '" + name + "': keeps no sample, expected 1 or more of "
                    + base.size());
        }
    }

    static Filtered of(Dataset base, String name, Predicate<SampleView> keep) {
        Objects.requireNonNull(name, "name");
        return new Filtered(base, name, test(base, keep));
    }

    /** Tests all samples on all processors, and returns a bit for each. */
    static long[] test(Dataset base, Predicate<SampleView> keep) {
        long[] words = new long[Math.toIntExact(Math.ceilDiv(base.size(), (long) Long.SIZE))];
        LongStream.range(0, Math.ceilDiv(base.size(), RUN)).parallel().forEach(run -> {
            try (SampleView view = new SampleView(base)) {
                for (long sample = run * RUN; sample < Math.min(base.size(), (run + 1) * RUN); sample++) {
                    if (test(keep, view.moveTo(sample))) {
                        words[(int) (sample / Long.SIZE)] |= 1L << sample;
                    }
                }
            }
        });
        return words;
    }

    private static boolean test(Predicate<SampleView> keep, SampleView view) {
        try {
            return keep.test(view);
        } catch (BadSampleException bad) {
            throw bad;
        } catch (RuntimeException e) {
            throw new IllegalStateException(view.name() + ": the filter failed: " + e, e);
        }
    }

    /**
     * Saves which samples are kept, atomically: a line of JSON, and one bit per sample.
     *
     * @param file the file; an existing one is replaced
     * @throws IOException if it cannot be written
     */
    public void save(Path file) throws IOException {
        FilterFile.write(file, name, base, selection.words());
    }

    /**
     * {@return the index in the base of a filtered sample}
     *
     * @param sample the sample's index here
     * @throws IndexOutOfBoundsException if the sample does not exist
     */
    public long origin(long sample) {
        return selection.get(sample);
    }

    @Override
    public long size() {
        return selection.size();
    }

    @Override
    public List<TensorSpec> fields() {
        return base.fields();
    }

    @Override
    public FieldSource source(int field) {
        return base.source(field).reindexed(selection::get);
    }

    @Override
    public String name(long sample) {
        return base.name(selection.get(sample));
    }

    @Override
    public String key(long sample) {
        return base.key(selection.get(sample));
    }

    /**
     * {@inheritDoc}
     *
     * <p>This is one pass over the kept samples, on the first call. It skips bad samples; reading one fails later. Of a
     * generated field it is the greatest length before the filter.
     */
    @Override
    public long maxLength(int field) {
        return base.fields().get(field).isVariable() ? maxLengths.of(field, () -> Lengths.longest(this, field, base))
                : base.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return "filtered:" + name + ":samples=" + size() + ":" + digest + "|" + base.fingerprint();
    }

    @Override
    public String toString() {
        return size() + " of " + base.size() + " samples by '" + name + "'";
    }
}
