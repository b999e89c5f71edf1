package io.penstock.dataset;

import io.penstock.decode.Decoder;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Datasets one behind the other: the samples of the first, then those of the second, and so on. All of them have the
 * same fields.
 *
 * <p>This is how several stores of tokens become one: each is cut into windows or documents by itself, so that no
 * sample reaches from one store into the next. Tokens at the end of a store that fill no window are left out, as
 * Megatron leaves them out of each of its datasets.
 *
 * {@snippet id=Stores :
 * Dataset all = Concatenated.of(List.of(TokenWindows.of(web, 2048), TokenWindows.of(books, 2048)));
 * }
 */
public final class Concatenated implements Dataset {

    private final Dataset[] parts;
    /** The first sample of each part; the last entry is the number of all samples. */
    private final long[] starts;
    private final List<TensorSpec> fields;

    private Concatenated(List<? extends Dataset> parts) {
        this.parts = parts.toArray(Dataset[]::new);
        this.starts = new long[this.parts.length + 1];
        for (int i = 0; i < this.parts.length; i++) {
            starts[i + 1] = Math.addExact(starts[i], this.parts[i].size());
        }
        this.fields = this.parts[0].fields();
    }

    /**
     * Datasets one behind the other.
     *
     * @param datasets the datasets, at least one; the stores behind them must stay open
     * @return the dataset of all their samples; a single dataset comes back as it is
     * @throws IllegalArgumentException if there is none, or their fields or the decoders of those differ,
     *     or fields are mapped: map the whole
     * @throws ArithmeticException if they have over 2^63 samples in all
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
        for (int field = 0; field < first.fields().size(); field++) {
            if (first.map(field) != null || other.map(field) != null) {
                throw new IllegalArgumentException("field '" + first.fields().get(field).name()
                        + "' is mapped: put datasets together first, and map the whole");
            }
            if (!Objects.equals(first.decoder(field), other.decoder(field))) {
                throw new IllegalArgumentException("dataset " + index + " has another decoder of the field '"
                        + first.fields().get(field).name() + "' than dataset 0");
            }
        }
    }

    /** The part that a sample is in; parts without samples are passed over. */
    private int partOf(long sample) {
        if (sample < 0 || sample >= size()) {
            throw new IndexOutOfBoundsException("sample " + sample + " of " + size());
        }
        int low = 0;
        int high = parts.length;
        while (high - low > 1) {
            int middle = low + high >>> 1;
            if (starts[middle] <= sample) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    @Override
    public long size() {
        return starts[parts.length];
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public void locate(long sample, int field, Span into) {
        int part = partOf(sample);
        parts[part].locate(sample - starts[part], field, into);
    }

    @Override
    public boolean hasParts(int field) {
        for (Dataset part : parts) {
            if (part.hasParts(field)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public int parts(long sample, int field) {
        int part = partOf(sample);
        return parts[part].parts(sample - starts[part], field);
    }

    @Override
    public void locatePart(long sample, int field, int run, Span into) {
        int part = partOf(sample);
        parts[part].locatePart(sample - starts[part], field, run, into);
    }

    @Override
    public Decoder decoder(int field) {
        return parts[0].decoder(field);
    }

    @Override
    public String name(long sample) {
        int part = partOf(sample);
        return parts[part].name(sample - starts[part]) + " of dataset " + part;
    }

    /** Rows of several stores are not at equal distances. */
    @Override
    public Rows rows(int field) {
        return null;
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
