package io.penstock.dataset;

import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleGenerator;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Samples of named fields, addressed by an index from 0 to {@link #size}.
 *
 * <p>A dataset is immutable and thread-safe. It does not own its store, which must stay open while the dataset is read.
 * An implementation needs {@link #size}, {@link #fields}, {@link #source} and {@link #fingerprint}; {@link #generate}
 * makes samples by code.
 *
 * {@snippet :
 * Dataset images = RecordFields.of(shards).and("jpg", ImageDecoder.rgb(224, 224))
 *         .filter("not dark", sample -> !isDark(sample.tensor("jpg")))
 *         .map("jpg", new TensorSpec("jpg", DType.F32, 224, 224, 3), "noise", addNoise);
 * }
 */
public interface Dataset {

    /**
     * Returns the number of samples.
     *
     * @return the count
     */
    long size();

    /**
     * Returns the fields of every sample with their per-sample shapes; the first dimension may be
     * {@linkplain TensorSpec#VARIABLE variable}.
     *
     * @return at least one field; names are unique
     */
    List<TensorSpec> fields();

    /**
     * Returns the source of a field.
     *
     * @param field the field's position in {@link #fields}
     * @return how each sample's value is found or computed
     */
    FieldSource source(int field);

    /**
     * Returns a short text that changes when the samples do; saved states compare it.
     *
     * @return the fingerprint: the store's, and how it is cut into samples
     */
    String fingerprint();

    /**
     * Returns the position of a field.
     *
     * @param field the field's name
     * @return the position in {@link #fields}
     * @throws IllegalArgumentException if the field does not exist
     */
    default int indexOf(String field) {
        List<String> names = fields().stream().map(TensorSpec::name).toList();
        int index = names.indexOf(field);
        if (index < 0) {
            throw new IllegalArgumentException("no field '" + field + "', samples have " + names);
        }
        return index;
    }

    /**
     * Returns a sample's name for messages.
     *
     * @param sample the sample's index
     * @return for example {@code sample 17}, or the store's own name for it
     */
    default String name(long sample) {
        return "sample " + sample;
    }

    /**
     * Returns the greatest length of a field along its first dimension, over all samples. Collators ask for it before
     * the first batch. The default measures every sample at each call; implementations that know it override this.
     *
     * @param field the field's position in {@link #fields}
     * @return the length; a fixed first dimension as it is, 1 for a scalar
     */
    default long maxLength(int field) {
        TensorSpec spec = fields().get(field);
        return spec.isVariable() ? Lengths.longest(this, field) : spec.rank() == 0 ? 1 : spec.dim(0);
    }

    /**
     * Generates samples by code. If a sample depends only on its index and the given random numbers, it is the same for
     * any workers, ranks, batch size and resume point.
     *
     * {@snippet :
     * Dataset waves = Dataset.generate(1_000_000, List.of(new TensorSpec("wave", DType.F32, 256)), "waves v1",
     *         (sample, random, out) -> fillWave(random.nextFloat(), out.tensor("wave")));
     * }
     *
     * @param size the number of samples
     * @param fields the fields of a sample, with fixed shapes and unique names
     * @param name the generator's name, for the fingerprint and the random numbers: change it when the code changes
     * @param generator generates a sample
     * @return the dataset
     * @throws IllegalArgumentException if the size is negative, there is no field, names repeat, or a length varies
     */
    static Dataset generate(long size, List<TensorSpec> fields, String name, SampleGenerator generator) {
        return new Generated(size, fields, name, generator);
    }

    /**
     * Returns this dataset with one field mapped by user code.
     *
     * @param field the field's name
     * @param out the mapped field
     * @param name the map's name, for the fingerprint and the random numbers
     * @param map computes the values
     * @return the dataset
     * @throws IllegalArgumentException as {@link Mapped#of(Dataset, String, TensorSpec, String, SampleMap)}
     */
    default Mapped map(String field, TensorSpec out, String name, SampleMap map) {
        return Mapped.of(this, field, out, name, map);
    }

    /**
     * Returns the samples that satisfy a condition. Tests all samples now.
     *
     * @param name the condition's name, for the fingerprint
     * @param keep the condition: a pure function that several threads call concurrently
     * @return the samples that satisfy it, in order
     * @throws IllegalArgumentException if none does
     * @throws IllegalStateException if the condition throws; names the sample
     * @throws BadSampleException if a sample is corrupt or cannot be decoded; names it
     */
    default Filtered filter(String name, Predicate<SampleView> keep) {
        return Filtered.of(this, name, keep);
    }

    /**
     * Selects samples by index, like PyTorch's {@code Subset}.
     *
     * @param samples the indices in the desired order; they may repeat
     * @return the selected samples
     * @throws IndexOutOfBoundsException if the sample does not exist
     */
    default Dataset select(long... samples) {
        return new Selected(this, samples);
    }

    /**
     * Appends other datasets to this one.
     *
     * @param others datasets with the same fields
     * @return the dataset of all their samples
     * @throws IllegalArgumentException if their fields differ
     */
    default Dataset concat(Dataset... others) {
        return Concatenated.of(Stream.concat(Stream.of(this), Stream.of(others)).toList());
    }

    /**
     * Returns this dataset with the values of a field cached: each is computed once.
     *
     * @param field the name of a field without randomness
     * @return the dataset, to be closed by the caller when nobody reads it
     * @throws IOException if the cache folder lacks space
     * @throws IllegalArgumentException if the field does not exist
     */
    default Cached cache(String field) throws IOException {
        return Cached.of(this, field);
    }
}
