package io.penstock.dataset;

import io.penstock.decode.Decoder;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.PrefixSums;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.util.List;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;

/**
 * Where a field comes from: how a {@link SampleReader} gets its value of a sample. Immutable, and read by any number of
 * threads at the same time.
 *
 * {@snippet :
 * FieldSource source = FieldSource.stored((sample, into) -> into.set(memory, sample * 64, 64));
 * }
 */
public sealed interface FieldSource {

    /** Points at the bytes of a sample. */
    @FunctionalInterface
    interface Place {

        /**
         * Points at bytes without touching them, unless the store keeps them compressed.
         *
         * @param sample the sample's index
         * @param into set to its bytes
         * @throws IndexOutOfBoundsException if there is no such sample
         */
        void locate(long sample, Span into);
    }

    /** Points at a run of a sample's bytes. */
    @FunctionalInterface
    interface PartPlace {

        /**
         * Points at bytes without touching them, unless the store keeps them compressed.
         *
         * @param sample the sample's index
         * @param part which run, from 0
         * @param into set to the run
         * @throws IndexOutOfBoundsException if there is no such sample or run
         */
        void locate(long sample, int part, Span into);
    }

    /**
     * The bytes of a value lie together: packed, row-major, little-endian. How many there are says how long a value is
     * whose length varies.
     *
     * @param place where they are
     * @param rows the same as rows at equal distances, of which row {@code i} is sample {@code i}; null if they do not
     *     lie so. Readers then ask for no place
     */
    record Stored(Place place, Rows rows) implements FieldSource {

        @Override
        public Stored reindexed(LongUnaryOperator origin) {
            return stored((sample, into) -> place.locate(origin.applyAsLong(sample), into));
        }

        @Override
        public InParts bytes() {
            return new InParts(_ -> 1, (sample, _, into) -> place.locate(sample, into));
        }
    }

    /**
     * The bytes of a value lie in several runs, which follow one another in the value.
     *
     * @param count how many runs a sample has
     * @param place where each is
     */
    record InParts(LongToIntFunction count, PartPlace place) implements FieldSource {

        @Override
        public InParts reindexed(LongUnaryOperator origin) {
            return new InParts(sample -> count.applyAsInt(origin.applyAsLong(sample)),
                    (sample, part, into) -> place.locate(origin.applyAsLong(sample), part, into));
        }

        @Override
        public InParts bytes() {
            return this;
        }
    }

    /**
     * A decoder makes the value from the stored bytes.
     *
     * @param place where the stored bytes are
     * @param decoder what decodes them
     */
    record Decoded(Place place, Decoder decoder) implements FieldSource {

        @Override
        public Decoded reindexed(LongUnaryOperator origin) {
            return new Decoded(stored(place).reindexed(origin).place(), decoder);
        }

        @Override
        public InParts bytes() {
            return stored(place).bytes();
        }
    }

    /**
     * A user's code makes the value from another one of the same sample.
     *
     * @param input where the other value comes from
     * @param in its name, dtype and shape
     * @param map what makes it
     * @param step what tells its random numbers from others': {@link KeyedRandom#step} of a name
     */
    record Mapped(FieldSource input, TensorSpec in, SampleMap map, long step) implements FieldSource {

        @Override
        public Mapped reindexed(LongUnaryOperator origin) {
            return new Mapped(input.reindexed(origin), in, map, step);
        }

        @Override
        public InParts bytes() {
            return input.bytes();
        }

        @Override
        public boolean draws(long other) {
            return step == other || input.draws(other);
        }
    }

    /**
     * A user's code makes all fields of a sample at once.
     *
     * @param generator what makes them
     * @param fields what it makes, of fixed shapes
     * @param field the field's position among them
     * @param name what the generator is called
     * @param origin what the generator takes for a sample's index
     */
    record Generated(SampleGenerator generator, List<TensorSpec> fields, int field, String name,
            LongUnaryOperator origin) implements FieldSource {

        @Override
        public Generated reindexed(LongUnaryOperator before) {
            return new Generated(generator, fields, field, name, origin.compose(before));
        }

        @Override
        public InParts bytes() {
            return new InParts(_ -> 0, (_, part, _) -> {
                throw new IndexOutOfBoundsException("part " + part + " of a value that is generated");
            });
        }

        @Override
        public boolean draws(long step) {
            return KeyedRandom.step(name) == step;
        }
    }

    /**
     * Samples come from several sources, one behind the other, that differ in how.
     *
     * @param parts the sources
     * @param starts which samples each has
     * @param origin the sample among those of all parts
     */
    record Joined(List<FieldSource> parts, PrefixSums starts, LongUnaryOperator origin) implements FieldSource {

        @Override
        public Joined reindexed(LongUnaryOperator before) {
            return new Joined(parts, starts, origin.compose(before));
        }

        @Override
        public InParts bytes() {
            return inParts(parts, starts).reindexed(origin);
        }

        @Override
        public boolean draws(long step) {
            return parts.stream().anyMatch(part -> part.draws(step));
        }
    }

    /**
     * The same field of other samples, or of the same in another order.
     *
     * @param origin the index here of each sample there: a pure function
     * @return the field there
     */
    FieldSource reindexed(LongUnaryOperator origin);

    /**
     * The stored bytes that values are made from: what can be read ahead.
     *
     * @return where they are; no part of a value that is made from nothing stored
     */
    InParts bytes();

    /**
     * Whether code of a user draws the random numbers of a step.
     *
     * @param step {@link KeyedRandom#step} of a name
     * @return true if a value's making does
     */
    default boolean draws(long step) {
        return false;
    }

    /**
     * Values whose bytes lie together.
     *
     * @param place where
     * @return the source
     */
    static Stored stored(Place place) {
        return new Stored(place, null);
    }

    /**
     * Values at equal distances.
     *
     * @param rows as many as there are samples
     * @return the source
     */
    static Stored rows(Rows rows) {
        return new Stored((sample, into) -> {
            long offset = rows.offset(sample);
            if (rows.file() == null) {
                into.set(rows.segment(), offset, rows.rowBytes());
            } else {
                into.set(rows.file(), offset, rows.rowBytes());
            }
        }, rows);
    }

    /**
     * The samples of several sources one behind the other. Sources of one kind stay of that kind, so that they are read
     * as fast as one.
     *
     * @param parts the sources, of fields that are alike
     * @param starts which samples each has
     * @return the source
     */
    static FieldSource joined(List<FieldSource> parts, PrefixSums starts) {
        if (parts.stream().allMatch(Stored.class::isInstance)) {
            return stored(place(parts.stream().map(part -> ((Stored) part).place), starts));
        }
        if (parts.getFirst() instanceof Decoded(_, Decoder decoder) && parts.stream().allMatch(
                part -> part instanceof Decoded(_, Decoder other) && other.equals(decoder))) {
            return new Decoded(place(parts.stream().map(part -> ((Decoded) part).place), starts), decoder);
        }
        if (parts.stream().allMatch(part -> part instanceof Stored || part instanceof InParts)) {
            return inParts(parts, starts);
        }
        return new Joined(parts, starts, LongUnaryOperator.identity());
    }

    private static Place place(Stream<Place> parts, PrefixSums starts) {
        Place[] places = parts.toArray(Place[]::new);
        return (sample, into) -> {
            int part = starts.runOf(sample);
            places[part].locate(sample - starts.start(part), into);
        };
    }

    private static InParts inParts(List<FieldSource> sources, PrefixSums starts) {
        InParts[] parts = sources.stream().map(FieldSource::bytes).toArray(InParts[]::new);
        return new InParts(sample -> {
            int part = starts.runOf(sample);
            return parts[part].count.applyAsInt(sample - starts.start(part));
        }, (sample, run, into) -> {
            int part = starts.runOf(sample);
            parts[part].place.locate(sample - starts.start(part), run, into);
        });
    }
}
