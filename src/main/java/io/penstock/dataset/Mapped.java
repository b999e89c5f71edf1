package io.penstock.dataset;

import io.penstock.decode.Decoder;
import io.penstock.io.Rows;
import io.penstock.io.Span;
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
    private final FieldMap map;
    private final String name;
    private final String step;
    private final List<TensorSpec> fields;

    private Mapped(Dataset base, int field, TensorSpec out, String name, String step, FieldMap map) {
        this.base = base;
        this.field = field;
        this.name = name;
        this.step = step;
        this.map = map;
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
        for (FieldMap before = base.map(index); before != null; before = before.source().map(before.field())) {
            if (before.step() == number) {
                throw new IllegalArgumentException("'" + field + "' is made by a map with the step '" + step
                        + "', expected another step: both would draw the same random numbers");
            }
        }
        return new Mapped(base, index, out, Objects.requireNonNull(name, "name"), step,
                new FieldMap(base, index, map, number));
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
    public FieldMap map(int field) {
        return field == this.field ? map : base.map(field);
    }

    /**
     * {@inheritDoc}
     *
     * @throws UnsupportedOperationException for the field that is mapped: its value lies nowhere
     */
    @Override
    public void locate(long sample, int field, Span into) {
        requireStored(field);
        base.locate(sample, field, into);
    }

    private void requireStored(int field) {
        if (field == this.field) {
            throw new UnsupportedOperationException(fields.get(field) + " is made by '" + name + "', read it through a "
                    + "SampleReader");
        }
    }

    @Override
    public boolean hasParts(int field) {
        return field != this.field && base.hasParts(field);
    }

    @Override
    public int parts(long sample, int field) {
        return field == this.field ? 1 : base.parts(sample, field);
    }

    @Override
    public void locatePart(long sample, int field, int part, Span into) {
        requireStored(field);
        base.locatePart(sample, field, part, into);
    }

    @Override
    public Decoder decoder(int field) {
        return field == this.field ? null : base.decoder(field);
    }

    @Override
    public String name(long sample) {
        return base.name(sample);
    }

    @Override
    public Rows rows(int field) {
        return field == this.field ? null : base.rows(field);
    }

    @Override
    public long maxLength(int field) {
        TensorSpec spec = fields.get(field);
        return field != this.field || spec.isVariable() ? base.maxLength(field)
                : spec.rank() == 0 ? 1 : spec.dim(0);
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
