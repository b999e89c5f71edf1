package io.penstock.dataset;

import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.LongStream;

/**
 * Those samples of a dataset that a condition holds for. They are looked at once, all of them, before the first batch:
 * so it is known how many there are, and orders, ranks and states are as exact as those of any dataset. A bit a sample
 * is kept, and may be {@linkplain #save saved}.
 *
 * {@snippet :
 * Filtered english = Filtered.of(documents, "english", sample -> isEnglish(sample.tensor("tokens")));
 * english.save(Path.of("english.filter"));
 * Filtered again = Filtered.load(documents, Path.of("english.filter"));      // looks at no sample
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
            throw new IllegalArgumentException("filter '" + name + "': found no sample that it keeps, of "
                    + base.size());
        }
    }

    /**
     * Looks at every sample, by all processors.
     *
     * @param base the samples; must stay open
     * @param name what the condition is called, for the fingerprint
     * @param keep the condition: a pure function, called by several threads at the same time, each with a view of its
     *     own
     * @return the samples that it holds for, in their order
     * @throws IllegalArgumentException if it holds for none
     * @throws IllegalStateException if the condition throws; names the sample
     * @throws BadSampleException if a sample is damaged or cannot be decoded; names it
     */
    public static Filtered of(Dataset base, String name, Predicate<SampleView> keep) {
        Objects.requireNonNull(name, "name");
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
        return new Filtered(base, name, words);
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
     * Writes which samples are kept, whole or not at all: a line of JSON, and a bit a sample.
     *
     * @param file where; an existing file is replaced
     * @throws IOException if it cannot be written
     */
    public void save(Path file) throws IOException {
        FilterFile.write(file, new FilterFile(name, base.fingerprint(), base.size(), selection.words()));
    }

    /**
     * Reads which samples are kept.
     *
     * @param base the samples that were filtered; must stay open
     * @param file what {@link #save} wrote
     * @return the samples, of which none is looked at
     * @throws IOException if the file cannot be read, is damaged, or is of another dataset; names it
     */
    public static Filtered load(Dataset base, Path file) throws IOException {
        FilterFile found = FilterFile.read(file, base);
        return new Filtered(base, found.name(), found.words());
    }

    /**
     * The sample of the filtered dataset.
     *
     * @param sample the sample's index here
     * @return its index there
     * @throws IndexOutOfBoundsException if there is no such sample
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

    /**
     * {@inheritDoc}
     *
     * <p>This is a pass over the samples that are kept, made once. A bad one has no length: whoever reads it is told.
     */
    @Override
    public long maxLength(int field) {
        return base.fields().get(field).isVariable() ? maxLengths.of(field, () -> Lengths.longest(this, field))
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
