package io.penstock.dataset;

import io.penstock.internal.PrefixSums;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Concatenated datasets: the samples of the first, then those of the second, and so on. All have the same fields.
 *
 * <p>This combines several token stores: each is cut into windows or documents separately, so no sample spans two
 * stores. Tokens at the end of a store that do not fill a window are dropped, as Megatron does.
 *
 * {@snippet id=Stores :
 * Dataset all = Concatenated.of(List.of(TokenWindows.of(web, 2048), TokenWindows.of(books, 2048)));
 * }
 */
public final class Concatenated implements Dataset {

    private final Dataset[] parts;
    private final PrefixSums starts;
    private final List<TensorSpec> fields;

    private Concatenated(List<? extends Dataset> parts) {
        this.parts = parts.toArray(Dataset[]::new);
        this.starts = PrefixSums.ofLengths(this.parts.length, part -> this.parts[part].size());
        this.fields = this.parts[0].fields();
    }

    /**
     * Concatenates datasets.
     *
     * @param datasets the datasets, at least one; the stores behind them must stay open
     * @return the dataset of all their samples; a single dataset is returned unchanged
     * @throws IllegalArgumentException if there is none, or their fields differ
     * @throws ArithmeticException if they have over 2^63 samples in total
     */
    public static Dataset of(List<? extends Dataset> datasets) {
        if (datasets.isEmpty()) {
            throw new IllegalArgumentException("no dataset, expected 1 or more");
        }
        Dataset first = datasets.getFirst();
        for (int i = 1; i < datasets.size(); i++) {
            requireAlike(first, datasets.get(i), i);
        }
        return datasets.size() == 1 ? first : new Concatenated(datasets);
    }

    private static void requireAlike(Dataset first, Dataset other, int index) {
        if (!other.fields().equals(first.fields())) {
            throw new IllegalArgumentException("dataset " + index + " has the fields " + other.fields()
                    + ", expected those of dataset 0: " + first.fields());
        }
    }

    private int partOf(long sample) {
        return starts.runOf(sample);
    }

    @Override
    public long size() {
        return starts.total();
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return FieldSource.joined(Arrays.stream(parts).map(part -> part.source(field)).toList(), starts);
    }

    @Override
    public String name(long sample) {
        int part = partOf(sample);
        return parts[part].name(sample - starts.start(part)) + " of dataset " + part;
    }

    @Override
    public long maxLength(int field) {
        return Arrays.stream(parts).mapToLong(part -> part.maxLength(field)).max().orElseThrow();
    }

    @Override
    public String fingerprint() {
        return Arrays.stream(parts).map(Dataset::fingerprint).collect(Collectors.joining("][", "concatenated:[", "]"));
    }

    @Override
    public String toString() {
        return parts.length + " datasets one behind the other, " + size() + " samples of " + fields();
    }
}
