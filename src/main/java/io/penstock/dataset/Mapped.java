package io.penstock.dataset;

import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A dataset with one field replaced by what a user's code makes of it, in the workers, each time a sample is read.
 *
 * {@snippet :
 * Dataset noisy = Mapped.of(images, "image", new TensorSpec("image", DType.F32, 32, 32), "noise",
 *         (in, random, out) -> addNoise(in, random.nextFloat(), out));
 * }
 */
public final class Mapped implements Dataset {

    private final Dataset base;
    private final int field;
    private final FieldSource.Mapped source;
    private final String name;
    private final String step;
    private final List<TensorSpec> fields;

    private Mapped(Dataset base, int field, TensorSpec out, String name, String step,
            FieldSource.Mapped source) {
        this.base = base;
        this.field = field;
        this.name = name;
        this.step = step;
        this.source = source;
        List<TensorSpec> all = new ArrayList<>(base.fields());
        all.set(field, out);
        this.fields = List.copyOf(all);
    }

    /**
     * Maps a field; its random numbers are its own, by its name.
     *
     * @param base the samples; must stay open
     * @param field the field's name
     * @param out what it becomes; its length may vary where that of {@code field} does, and is then the same. The name
     *     may be another, which no other field has
     * @param name what the map is called, for the fingerprint and for its random numbers: another name for code that
     *     makes other values
     * @param map makes the values
     * @return the dataset
     * @throws IllegalArgumentException if there is no such field, two fields would have one name, the length varies and
     *     that of {@code field} does not, or the field is made by a map that draws the same random numbers
     */
    public static Mapped of(Dataset base, String field, TensorSpec out, String name, SampleMap map) {
        return of(base, field, out, name, name, map);
    }

    /**
     * Maps a field, drawing the random numbers of a step: maps of several fields with one step draw alike, as an image
     * and its mask want to be cut.
     *
     * @param base the samples; must stay open
     * @param field the field's name
     * @param out what it becomes; its length may vary where that of {@code field} does, and is then the same. The name
     *     may be another, which no other field has
     * @param name what the map is called, for the fingerprint: another name for code that makes other values
     * @param step what the draws are called: maps with one step draw the same random numbers for a sample, and any
     *     other is independent of them
     * @param map makes the values
     * @return the dataset
     * @throws IllegalArgumentException if there is no such field, two fields would have one name, the length varies and
     *     that of {@code field} does not, or the field is made by a map that draws the same random numbers
     */
    public static Mapped of(Dataset base, String field, TensorSpec out, String name, String step, SampleMap map) {
        int index = base.indexOf(field);
        List<String> names = new ArrayList<>(base.fields().stream().map(TensorSpec::name).toList());
        names.remove(index);
        if (names.contains(out.name())) {
            throw new IllegalArgumentException("two fields are named '" + out.name() + "'");
        }
        if (out.isVariable() && !base.fields().get(index).isVariable()) {
            throw new IllegalArgumentException(out + " of " + base.fields().get(index)
                    + ": found one length, expected varying ones");
        }
        Objects.requireNonNull(map, "map");
        long number = KeyedRandom.step(step);
        FieldSource input = base.source(index);
        if (input.draws(number)) {
            throw new IllegalArgumentException("'" + field + "' is made by another step '" + step
                    + "', expected another name: both would draw the same random numbers");
        }
        return new Mapped(base, index, out, Objects.requireNonNull(name, "name"), step,
                new FieldSource.Mapped(input, base.fields().get(index), map, number));
    }

    @Override
    public long size() {
        return base.size();
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return field == this.field ? source : base.source(field);
    }

    @Override
    public String name(long sample) {
        return base.name(sample);
    }

    @Override
    public long maxLength(int field) {
        return field != this.field || fields.get(field).isVariable() ? base.maxLength(field)
                : Dataset.super.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return "mapped:" + name + ":" + base.fields().get(field).name() + "->" + fields.get(field) + ":step=" + step
                + "|" + base.fingerprint();
    }

    @Override
    public String toString() {
        return base + ", '" + base.fields().get(field).name() + "' mapped by '" + name + "'";
    }
}
