// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.Arrivals;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.SampleGenerator;
import io.penstock.dataset.source.SampleGenerator.SampleTensors;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.Samples;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
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
public interface Dataset extends Samples {

    /**
     * {@return a short text that changes when the samples do, which saved states compare: the store's fingerprint, and
     * how the store is cut into samples}
     */
    String fingerprint();

    /**
     * {@return how the samples arrive, if they have no index; empty for a dataset that is there as a whole}
     */
    default Optional<Arrivals> arrivals() {
        return Optional.empty();
    }

    /**
     * {@return the position of a field in {@link #fields}}
     *
     * @param field the field's name
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
     * {@return the greatest length of a field along its first dimension over all samples; 1 for a scalar} Collators ask
     * for it before the first batch. The default measures every sample at each call; implementations that know it
     * override this.
     *
     * @param field the field's position in {@link #fields}
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
        return new Generated(size, fields, Generated.NO_LENGTH, name, generator);
    }

    /**
     * Generates samples of which some fields differ in length. The generator says each length by {@link
     * SampleTensors#tensor(String, long)}:
     *
     * {@snippet :
     * Dataset counts = Dataset.generate(1000, List.of(new TensorSpec("ids", DType.I32, TensorSpec.VARIABLE)), 64,
     *         "counts v1", (sample, random, out) -> {
     *             Tensor ids = out.tensor("ids", 1 + sample % 64);
     *             for (long t = 0; t < ids.dim(0); t++) {
     *                 ids.set(t * t, t);
     *             }
     *         });
     * }
     *
     * <p>A worker keeps memory for {@code maxLength} of each such field in each sample of a batch. {@link Lengths}
     * cannot measure lengths by a generator that draws random numbers.
     *
     * @param size the number of samples
     * @param fields the fields of a sample, with unique names; at least one has a {@linkplain TensorSpec#VARIABLE
     *     varying} length
     * @param maxLength the greatest length
     * @param name the generator's name, for the fingerprint and the random numbers: change it when the code changes
     * @param generator generates a sample
     * @return the dataset
     * @throws IllegalArgumentException if the size is negative, no length varies, names repeat, or {@code maxLength} is
     *     below 1
     */
    static Dataset generate(long size, List<TensorSpec> fields, long maxLength, String name,
            SampleGenerator generator) {
        return new Generated(size, fields, maxLength, name, generator);
    }

    /**
     * Maps a field by user code, in the workers, each time a sample is read. The map's name keys its random numbers.
     *
     * {@snippet :
     * Dataset noisy = images.map("image", new TensorSpec("image", DType.F32, 32, 32), "noise",
     *         (in, random, out) -> addNoise(in, random.nextFloat(), out));
     * }
     *
     * @param field the field's name
     * @param out the mapped field, which may have a new, unique name; its length may vary if that of {@code field}
     *     does, and is then the same
     * @param name the map's name, for the fingerprint and the random numbers: change it when the code changes
     * @param map computes the values
     * @return the dataset with the mapped field in place of the field
     * @throws IllegalArgumentException if the field does not exist, two fields would share a name, the length varies
     *     but that of {@code field} does not, or the field's own map draws the same random numbers
     */
    default Dataset map(String field, TensorSpec out, String name, SampleMap map) {
        return map(field, out, name, name, map);
    }

    /**
     * Maps a field with the random numbers of a step: maps with the same step draw the same numbers for a sample, for
     * example to crop an image and its mask alike. Other steps are independent.
     *
     * @param field the field's name
     * @param out the mapped field, as in {@link #map(String, TensorSpec, String, SampleMap)}
     * @param name the map's name, for the fingerprint: change it when the code changes
     * @param step the name that keys the random numbers
     * @param map computes the values
     * @return the dataset with the mapped field in place of the field
     * @throws IllegalArgumentException as {@link #map(String, TensorSpec, String, SampleMap)}
     */
    default Dataset map(String field, TensorSpec out, String name, String step, SampleMap map) {
        return Mapped.of(this, field, null, out, name, step, map);
    }

    /**
     * Maps a field by user code that also needs another one: boxes by the size of their image's file.
     *
     * @param field the field's name
     * @param beside the other field's name; the map's {@linkplain SampleMap#open session}, which it must have, receives
     *     its value by {@link SampleMap.Mapper#beside}
     * @param out the mapped field, as in {@link #map(String, TensorSpec, String, SampleMap)}
     * @param name the map's name, for the fingerprint: change it when the code changes
     * @param step the name that keys the random numbers
     * @param map computes the values
     * @return the dataset with the mapped field in place of the field
     * @throws IllegalArgumentException as {@link #map(String, TensorSpec, String, SampleMap)}
     */
    default Dataset map(String field, String beside, TensorSpec out, String name, String step, SampleMap map) {
        return Mapped.of(this, field, beside, out, name, step, map);
    }

    /**
     * Adds a field that code generates for each sample: the noise level of a diffusion model, a weight, the sample's
     * index.
     *
     * {@snippet :
     * Dataset noisy = images.with(new TensorSpec("noise level", DType.F32), "levels v1",
     *         (sample, random, out) -> out.tensor(0).set(random.nextFloat()));
     * }
     *
     * @param field the new field, of a fixed shape; the only one that the generator writes
     * @param name the generator's name, for the fingerprint and the random numbers: change it when the code changes
     * @param generator generates the values
     * @return the dataset with the field behind its own
     * @throws IllegalArgumentException if the field's length varies, or two fields would share a name
     */
    default Dataset with(TensorSpec field, String name, SampleGenerator generator) {
        return with(field, name, name, generator);
    }

    /**
     * Adds a field with the random numbers of a step: a map with the same step draws the same numbers for a sample.
     *
     * @param field the new field, as in {@link #with(TensorSpec, String, SampleGenerator)}
     * @param name the generator's name, for the fingerprint: change it when the code changes
     * @param step the name that keys the random numbers
     * @param generator generates the values
     * @return the dataset with the field behind its own
     * @throws IllegalArgumentException as {@link #with(TensorSpec, String, SampleGenerator)}
     */
    default Dataset with(TensorSpec field, String name, String step, SampleGenerator generator) {
        return WithField.of(this, field, name, step, generator);
    }

    /**
     * Puts several fields of equal values in the place of one, for maps that each compute something else from it.
     *
     * {@snippet :
     * Dataset views = images.duplicate("image", "view 1", "view 2");
     * }
     *
     * @param field the field's name
     * @param names the names of the new fields, at least one
     * @return the dataset with these fields in place of the field
     * @throws IllegalArgumentException if the field does not exist, there is no name, or two fields would share one
     */
    default Dataset duplicate(String field, String... names) {
        return Duplicated.of(this, field, names);
    }

    /**
     * Selects the samples that satisfy a condition. Tests all samples now, on all processors.
     *
     * @param name the condition's name, for the fingerprint
     * @param keep the condition: a pure function that several threads call concurrently, each with its own view
     * @return the samples that satisfy it, in order
     * @throws IllegalArgumentException if none does
     * @throws IllegalStateException if the condition throws; names the sample
     * @throws BadSampleException if a sample is corrupt or cannot be decoded; names it
     */
    default Filtered filter(String name, Predicate<SampleView> keep) {
        requireIndex("filtered");
        return Filtered.of(this, name, keep);
    }

    /**
     * Selects the samples that an earlier filter kept, without testing any.
     *
     * @param saved what {@link Filtered#save} wrote for this dataset
     * @return the samples
     * @throws IOException if the file cannot be read, is corrupt, or belongs to another dataset; names it
     */
    default Filtered filter(Path saved) throws IOException {
        requireIndex("filtered");
        return FilterFile.read(saved, this);
    }

    /**
     * Splits the samples into a part to train on and one to validate with. Which part a sample is in depends on its
     * {@link #key}, the share and the seed alone: it stays there when data are added, and samples of equal keys are in
     * the same part. Where samples have no key of their own, that is their index, so data must be added at the end.
     *
     * {@snippet :
     * Split split = images.split(0.9, 7);
     * }
     *
     * <p>Split before you pack documents into sequences. Windows that overlap share tokens, whichever parts they are
     * in: to keep the parts apart, take windows within documents, which are split by document.
     *
     * @param share the share of the first part, between 0 and 1: each sample is in it with this probability, so that
     *     the parts' sizes are not exact
     * @param seed another seed gives another split: use the same one in all runs that compare
     * @return both parts; they take one bit per sample each
     * @throws IllegalArgumentException if the share is not between 0 and 1, or a part has no sample
     * @throws UnsupportedOperationException if samples change when data are added, as packed sequences do
     */
    default Split split(double share, long seed) {
        requireIndex("split");
        return Split.of(this, share, seed);
    }

    /**
     * Splits the samples by the value of a field, so that samples of the same patient, user or page are in the same
     * part. Reads the field of all samples now, on all processors.
     *
     * {@snippet :
     * Split split = images.split(0.9, 7, "patient");
     * }
     *
     * @param share the share of the values that are in the first part, as in {@link #split(double, long)}
     * @param seed as in {@link #split(double, long)}
     * @param field the field's name; its bytes decide
     * @return both parts
     * @throws IllegalArgumentException as {@link #split(double, long)}, or if the field does not exist
     * @throws BadSampleException if a sample is corrupt or cannot be decoded; names it
     */
    default Split split(double share, long seed, String field) {
        requireIndex("split");
        return Split.of(this, share, seed, field);
    }

    /**
     * Selects samples by index, like PyTorch's {@code Subset}.
     *
     * @param samples the indices in the desired order; they may repeat
     * @return the selected samples
     * @throws IndexOutOfBoundsException if the sample does not exist
     */
    default Dataset select(long... samples) {
        requireIndex("selected");
        return new Selected(this, samples);
    }

    /**
     * Appends other datasets to this one. This combines several token stores: each is cut into windows or documents
     * separately, so no sample spans two stores.
     *
     * @param others datasets with the same fields; the stores behind them must stay open
     * @return the samples of this dataset, then those of the first other one, and so on
     * @throws IllegalArgumentException if their fields differ
     * @throws ArithmeticException if they have over 2^63 samples in total
     */
    default Dataset concat(Dataset... others) {
        Stream.concat(Stream.of(this), Stream.of(others)).forEach(part -> part.requireIndex("concatenated"));
        return others.length == 0 ? this : new Concatenated(Stream.concat(Stream.of(this), Stream.of(others)).toList());
    }

    /**
     * Caches the values of a field: each is computed once. If their length varies, a first pass measures all lengths.
     *
     * @param field the name of a field without randomness, of fewer than 2^31 samples
     * @return the dataset, to be closed by the caller when nobody reads it
     * @throws IOException if the cache folder, named in the message, lacks space
     * @throws IllegalArgumentException if the field does not exist
     * @throws ArithmeticException if there are too many samples or bytes
     */
    default Cached cache(String field) throws IOException {
        requireIndex("cached");
        return Cached.of(this, field);
    }

    private void requireIndex(String what) {
        if (arrivals().isPresent()) {
            throw new IllegalArgumentException(this + " cannot be " + what
                    + ": it has no index; only its fields can be mapped");
        }
    }
}
