package io.penstock.dataset;

import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Samples of named fields, addressed by an index from 0 to {@link #size}.
 *
 * <p>A dataset is immutable and may be read by any number of threads. It does not own the store behind it, which must
 * stay open as long as the dataset is read. An implementation needs {@link #size}, {@link #fields}, {@link #source} and
 * {@link #fingerprint}; for samples that code makes, there is {@link #generate}.
 *
 * {@snippet :
 * Dataset images = RecordFields.of(shards).and("jpg", ImageDecoder.rgb(224, 224))
 *         .filter("not dark", sample -> !isDark(sample.tensor("jpg")))
 *         .map("jpg", new TensorSpec("jpg", DType.F32, 224, 224, 3), "noise", addNoise);
 * }
 */
public interface Dataset {

    /**
     * The number of samples.
     *
     * @return the count
     */
    long size();

    /**
     * The fields that every sample has, with the shape of one sample; the first dimension of a field may be
     * {@linkplain TensorSpec#VARIABLE variable}.
     *
     * @return at least one field; names differ
     */
    List<TensorSpec> fields();

    /**
     * Where a field comes from.
     *
     * @param field the field's position in {@link #fields}
     * @return how its value of each sample is found or made
     */
    FieldSource source(int field);

    /**
     * A short text that changes when the samples do: what a saved state compares.
     *
     * @return the fingerprint: that of the store, and how it is cut into samples
     */
    String fingerprint();

    /**
     * Where a field is.
     *
     * @param field its name
     * @return its position in {@link #fields}
     * @throws IllegalArgumentException if there is no such field
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
     * What users call a sample, for messages.
     *
     * @param sample the sample's index
     * @return for example {@code sample 17}; a store's own name for it, where it has one
     */
    default String name(long sample) {
        return "sample " + sample;
    }

    /**
     * The greatest length that a field has along its first dimension, over all samples. Collators ask for it before the
     * first batch. An implementation that knows it says so; by default every sample is asked at each call.
     *
     * @param field the field's position in {@link #fields}
     * @return that dimension, if it is fixed, 1 of a single value; otherwise the greatest one
     */
    default long maxLength(int field) {
        TensorSpec spec = fields().get(field);
        return spec.isVariable() ? Lengths.longest(this, field) : spec.rank() == 0 ? 1 : spec.dim(0);
    }

    /**
     * Samples that code makes. They are the same whatever the workers, ranks and batch size, and wherever a run was
     * resumed, if what a sample has follows from its index and the random numbers alone.
     *
     * {@snippet :
     * Dataset waves = Dataset.generate(1_000_000, List.of(new TensorSpec("wave", DType.F32, 256)), "waves v1",
     *         (sample, random, out) -> fillWave(random.nextFloat(), out.tensor("wave")));
     * }
     *
     * @param size the number of samples
     * @param fields what a sample has: fixed shapes, and names that differ
     * @param name what the generator is called, for the fingerprint and for its random numbers: another name for code
     *     that makes other samples
     * @param generator makes a sample
     * @return the dataset
     * @throws IllegalArgumentException if the size is negative, there is no field, two have one name, or a length
     *     varies
     */
    static Dataset generate(long size, List<TensorSpec> fields, String name, SampleGenerator generator) {
        return new Generated(size, fields, name, generator);
    }

    /**
     * This dataset with one field replaced by what a user's code makes of it.
     *
     * @param field the field's name
     * @param out what it becomes
     * @param name what the map is called, for the fingerprint and for its random numbers
     * @param map makes the values
     * @return the dataset
     * @throws IllegalArgumentException as {@link Mapped#of(Dataset, String, TensorSpec, String, SampleMap)}
     */
    default Mapped map(String field, TensorSpec out, String name, SampleMap map) {
        return Mapped.of(this, field, out, name, map);
    }

    /**
     * Those samples that a condition holds for. Looks at all of them now.
     *
     * @param name what the condition is called, for the fingerprint
     * @param keep the condition: a pure function, called by several threads at the same time
     * @return the samples that it holds for, in their order
     * @throws IllegalArgumentException if it holds for none
     * @throws IllegalStateException if the condition throws; names the sample
     * @throws BadSampleException if a sample is damaged or cannot be decoded; names it
     */
    default Filtered filter(String name, Predicate<SampleView> keep) {
        return Filtered.of(this, name, keep);
    }

    /**
     * Samples by their indices, as PyTorch's {@code Subset}.
     *
     * @param samples the indices in the order that is wanted; one may come several times
     * @return as many samples
     * @throws IndexOutOfBoundsException if there is no such sample
     */
    default Dataset select(long... samples) {
        return new Selected(this, samples);
    }

    /**
     * This dataset and others behind it.
     *
     * @param others datasets with the same fields
     * @return the dataset of all their samples
     * @throws IllegalArgumentException if their fields differ
     */
    default Dataset concat(Dataset... others) {
        return Concatenated.of(Stream.concat(Stream.of(this), Stream.of(others)).toList());
    }

    /**
     * This dataset with the values of a field kept: each is made once.
     *
     * @param field the name of a field that is made without chance
     * @return the dataset, to be closed by the caller when nobody reads it
     * @throws IOException if the folder of the cache lacks space
     * @throws IllegalArgumentException if there is no such field
     */
    default Cached cache(String field) throws IOException {
        return Cached.of(this, field);
    }
}
