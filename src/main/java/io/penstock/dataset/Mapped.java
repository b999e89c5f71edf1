package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A dataset with one field mapped by user code, in the workers, each time a sample is read.
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
     * Maps a field; the map's name keys its random numbers.
     *
     * @param base the samples; must stay open
     * @param field the field's name
     * @param out the mapped field; its length may vary if that of {@code field} does, and is then the same. It may have
     *     a new, unique name
     * @param name the map's name, for the fingerprint and the random numbers: change it when the code changes
     * @param map computes the values
     * @return the dataset
     * @throws IllegalArgumentException if the field does not exist, two fields would share a name, the length varies
     *     but that of {@code field} does not, or the field's own map draws the same random numbers
     */
    public static Mapped of(Dataset base, String field, TensorSpec out, String name, SampleMap map) {
        return of(base, field, out, name, name, map);
    }

    /**
     * Maps a field with the random numbers of a step. Maps with the same step draw the same numbers: for example to
     * crop an image and its mask alike.
     *
     * @param base the samples; must stay open
     * @param field the field's name
     * @param out the mapped field; its length may vary if that of {@code field} does, and is then the same. It may have
     *     a new, unique name
     * @param name the map's name, for the fingerprint: change it when the code changes
     * @param step the name of the draws: maps with the same step draw the same random numbers for a sample; other steps
     *     are independent
     * @param map computes the values
     * @return the dataset
     * @throws IllegalArgumentException if the field does not exist, two fields would share a name, the length varies
     *     but that of {@code field} does not, or the field's own map draws the same random numbers
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
