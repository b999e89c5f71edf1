// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.decode.Decoder;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The source of a field: how a worker gets a sample's value. Immutable and thread-safe.
 *
 * {@snippet :
 * FieldSource source = FieldSource.stored((sample, into) -> into.set(memory, sample * 64, 64));
 * }
 */
public sealed interface FieldSource {

    /** Locates the bytes of a sample. */
    @FunctionalInterface
    interface Place {

        /**
         * Locates bytes without touching them, unless the store must decompress them.
         *
         * @param sample the sample's index
         * @param into receives the location
         * @throws IndexOutOfBoundsException if the sample does not exist
         */
        void locate(long sample, Span into);

        /**
         * Copies the values of many samples, which all have one size, one after another. A place that copies small
         * values faster than it locates them does so.
         *
         * @param samples the samples
         * @param count how many of them to copy
         * @param valueBytes the size of each value
         * @param target native memory
         * @param targetOffset where to write the first value
         * @param scratch room for numbers, of any length but 0
         * @return whether all were copied; if not, each is to be located, which also tells what is wrong with one
         */
        default boolean gather(long[] samples, int count, long valueBytes, MemorySegment target, long targetOffset,
                long[] scratch) {
            return false;
        }
    }

    /** Locates a run of a sample's bytes. */
    @FunctionalInterface
    interface PartPlace {

        /**
         * Locates bytes without touching them, unless the store must decompress them.
         *
         * @param sample the sample's index
         * @param part the run's number, from 0
         * @param into receives the location
         * @throws IndexOutOfBoundsException if the sample or run does not exist
         */
        void locate(long sample, int part, Span into);
    }

    /**
     * A value's bytes are contiguous: packed, row-major, little-endian. Their number gives the length of a value of
     * varying length.
     *
     * @param place where they are
     * @param rows the same as rows with a constant stride, row {@code i} for sample {@code i}, which readers prefer;
     *     null if there is no such stride
     */
    record Stored(Place place, @Nullable Rows rows) implements FieldSource {

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
     * A value is the concatenation of several runs of bytes.
     *
     * @param count the number of runs of a sample
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
     * A decoder computes the value from the stored bytes.
     *
     * @param place where the stored bytes are
     * @param decoder the decoder
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
     * A decoder computes the value from several stored ones, which it gets as one: first, for each, two little-endian
     * {@code i32}, where it begins and its length in bytes, -1 if the sample lacks it; then their bytes.
     *
     * @param count the number of stored values of a sample
     * @param presence whether a sample has one
     * @param place where each is
     * @param decoder the decoder
     */
    record Gathered(int count, Presence presence, PartPlace place, Decoder decoder) implements FieldSource {

        /** The bytes before the values, for each of them. */
        public static final int PART_BYTES = 2 * Integer.BYTES;

        /** Tells whether a sample has one of its stored values. */
        @FunctionalInterface
        public interface Presence {

            /**
             * {@return whether there is one}
             *
             * @param sample the sample's index
             * @param part the value's number, from 0
             */
            boolean has(long sample, int part);
        }

        @Override
        public Gathered reindexed(LongUnaryOperator origin) {
            return new Gathered(count, (sample, part) -> presence.has(origin.applyAsLong(sample), part),
                    (sample, part, into) -> place.locate(origin.applyAsLong(sample), part, into), decoder);
        }

        /** One that a sample lacks has no bytes. */
        @Override
        public InParts bytes() {
            return new InParts(_ -> count, (sample, part, into) -> {
                if (presence.has(sample, part)) {
                    place.locate(sample, part, into);
                } else {
                    into.set(MemorySegment.NULL, 0, 0);
                }
            });
        }
    }

    /**
     * User code computes the value from another one of the same sample.
     *
     * @param input the source of the other value
     * @param in its name, dtype and shape
     * @param map the user code
     * @param step the key of its random numbers: {@link KeyedRandom#step} of a name
     * @param beside what the user code's session receives before each value; null for nothing
     */
    record Mapped(FieldSource input, TensorSpec in, SampleMap map, long step, @Nullable Beside beside)
            implements FieldSource {

        /**
         * A third value of the same sample.
         *
         * @param source its source
         * @param field its name, dtype and shape
         */
        public record Beside(FieldSource source, TensorSpec field) {
        }

        @Override
        public Mapped reindexed(LongUnaryOperator origin) {
            return new Mapped(input.reindexed(origin), in, map, step,
                    beside == null ? null : new Beside(beside.source.reindexed(origin), beside.field));
        }

        /** What a map reads of a value by ranges is not known before. */
        @Override
        public InParts bytes() {
            return map.readsRanges() ? noBytes() : input.bytes();
        }

        @Override
        public boolean draws(long other) {
            return step == other || input.draws(other);
        }
    }

    /**
     * User code generates all fields of a sample at once.
     *
     * @param generator the user code
     * @param fields the generated fields
     * @param maxLength the greatest length of those whose length varies
     * @param field the field's position among them
     * @param name the generator's name
     * @param origin maps a sample to the generator's index
     */
    record Generated(SampleGenerator generator, List<TensorSpec> fields, long maxLength, int field, String name,
            LongUnaryOperator origin) implements FieldSource {

        /**
         * Fields of fixed shapes.
         *
         * @param generator the user code
         * @param fields the generated fields
         * @param field the field's position among them
         * @param name the generator's name
         * @param origin maps a sample to the generator's index
         */
        public Generated(SampleGenerator generator, List<TensorSpec> fields, int field, String name,
                LongUnaryOperator origin) {
            this(generator, fields, 0, field, name, origin);
        }

        @Override
        public Generated reindexed(LongUnaryOperator before) {
            return new Generated(generator, fields, maxLength, field, name, origin.compose(before));
        }

        @Override
        public InParts bytes() {
            return noBytes();
        }

        @Override
        public boolean draws(long step) {
            return KeyedRandom.step(name) == step;
        }
    }

    /**
     * Concatenated sources of different kinds.
     *
     * @param parts the sources
     * @param sizes the number of samples of each
     * @param origin maps a sample to its index in the concatenation
     */
    record Joined(List<FieldSource> parts, long[] sizes, LongUnaryOperator origin) implements FieldSource {

        @Override
        public Joined reindexed(LongUnaryOperator before) {
            return new Joined(parts, sizes, origin.compose(before));
        }

        @Override
        public InParts bytes() {
            return inParts(parts, PrefixSums.ofLengths(sizes.length, part -> sizes[part])).reindexed(origin);
        }

        @Override
        public boolean draws(long step) {
            return parts.stream().anyMatch(part -> part.draws(step));
        }
    }

    /**
     * {@return the same field for a selection or permutation of samples}
     *
     * @param origin maps a new index to the index here; a pure function
     */
    FieldSource reindexed(LongUnaryOperator origin);

    /**
     * {@return the places of the stored bytes that values are computed from, for read-ahead; no parts for values
     * without stored bytes}
     */
    InParts bytes();

    /**
     * Tells whether user code draws the random numbers of a step.
     *
     * @param step {@link KeyedRandom#step} of a name
     * @return true if it does
     */
    default boolean draws(long step) {
        return false;
    }

    private static InParts noBytes() {
        return new InParts(_ -> 0, (_, part, _) -> {
            throw new IndexOutOfBoundsException("part " + part + " of a value without stored bytes");
        });
    }

    /**
     * Creates a source of contiguous values.
     *
     * @param place where they are
     * @return the source
     */
    static Stored stored(Place place) {
        return new Stored(place, null);
    }

    /**
     * Creates a source of values with a constant stride.
     *
     * @param rows one row per sample
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
     * Concatenates sources. Sources of one kind keep that kind, so they are read as fast as one.
     *
     * @param parts the sources, of equal fields
     * @param sizes the number of samples of each
     * @return the source
     */
    static FieldSource joined(List<FieldSource> parts, long... sizes) {
        PrefixSums starts = PrefixSums.ofLengths(sizes.length, part -> sizes[part]);
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
        return new Joined(parts, sizes, LongUnaryOperator.identity());
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
