// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.decode.Decoder;
import io.penstock.io.ReadMode;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.KeyedRandom;
import io.penstock.store.Column;
import io.penstock.testing.Plans;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datasets of every kind, decorated by each other at random, give what a slow reference of arrays gives. */
class NestedDatasetsTest {

    private static final int TREES = 300;
    private static final int DEPTH = 6;
    private static final int FIELDS = 2;
    private static final int WIDTH = 4;
    private static final long SEED = 20261122;
    private static final long EPOCH = 3;

    /** A field's value of a sample at a position, worked out the slow way. */
    private interface Value {
        byte[] of(long sample, long position);
    }

    /**
     * A dataset and what is in it.
     *
     * @param drawn whether each field's values depend on chance
     */
    private record Tree(Dataset dataset, List<Value> values, boolean[] drawn) {

        Tree with(Dataset other, int field, Value value, boolean chance) {
            List<Value> more = new ArrayList<>(values);
            more.set(field, value);
            boolean[] draws = drawn.clone();
            draws[field] = chance;
            return new Tree(other, more, draws);
        }

        /** The same fields of other samples. */
        Tree of(Dataset other, long[] samples) {
            return new Tree(other, values.stream().<Value>map(value -> (sample, position) -> value.of(
                    samples[(int) sample], position)).toList(), drawn);
        }
    }

    private record Leaf(long size, List<TensorSpec> fields, List<FieldSource> sources) implements Dataset {

        @Override
        public FieldSource source(int field) {
            return sources.get(field);
        }

        @Override
        public String fingerprint() {
            return "leaf:" + size;
        }
    }

    /** Every byte one more than it is stored. */
    private record PlusOne(TensorSpec spec) implements Decoder, Decoder.Session {

        @Override
        public TensorSpec field(Column column) {
            return spec;
        }

        @Override
        public Session open() {
            return this;
        }

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) {
            return storedBytes;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long offset, long bytes) {
            for (long i = 0; i < bytes; i++) {
                target.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (stored.get(ValueLayout.JAVA_BYTE, i) + 1));
            }
        }

        @Override
        public void close() {
            // It holds nothing.
        }
    }

    private final Arena arena = Arena.ofAuto();
    private final List<Cached> caches = new ArrayList<>();
    private SplittableRandom random;
    private List<TensorSpec> specs;
    private int steps;

    private Tree tree(int depth) throws IOException {
        if (depth == 0) {
            return leaf();
        }
        Tree base = tree(depth - 1);
        long size = base.dataset.size();
        int field = random.nextInt(FIELDS);
        return switch (random.nextInt(6)) {
            case 0 -> mapped(base, field);
            case 1 -> {
                long[] chosen = random.longs(random.nextInt(1, 12), 0, size).toArray();
                yield base.of(base.dataset.select(chosen), chosen);
            }
            case 2 -> {
                long[] kept = LongStream.range(0, size).filter(sample -> keeps(base, sample)).toArray();
                if (kept.length == 0) {
                    assertThrows(IllegalArgumentException.class, () -> filtered(base));
                    yield base;
                }
                yield base.of(filtered(base), kept);
            }
            case 3 -> concatenated(base, random.nextInt(depth), random.nextInt(depth));
            case 4 -> mappedBeside(base, field);
            default -> {
                if (base.drawn[field]) {
                    yield base;
                }
                Cached kept = base.dataset.cache(specs.get(field).name());
                caches.add(kept);
                yield base.with(kept, field, base.values.get(field), false);
            }
        };
    }

    private static boolean keeps(Tree base, long sample) {
        return IntStream.range(0, FIELDS).filter(f -> !base.drawn[f]).map(f -> Arrays.hashCode(
                base.values.get(f).of(sample, -1))).sum() % 3 != 0;
    }

    private Dataset filtered(Tree base) {
        return base.dataset.filter("some", sample -> IntStream.range(0, FIELDS).filter(f -> !base.drawn[f])
                .map(f -> Arrays.hashCode(sample.tensor(specs.get(f).name()).segment().toArray(ValueLayout.JAVA_BYTE)))
                .sum() % 3 != 0);
    }

    /** With chance or without; the same step never twice. */
    private Tree mapped(Tree base, int field) {
        boolean draws = random.nextBoolean();
        boolean inPlace = random.nextBoolean();
        String step = "step " + steps++;
        Dataset made = base.dataset.map(specs.get(field).name(), specs.get(field), step, new SampleMap() {
            @Override
            public void map(Tensor in, RandomGenerator chance, Tensor out) {
                byte key = draws ? (byte) chance.nextInt() : 17;
                for (long i = 0; i < in.byteSize(); i++) {
                    out.segment().set(ValueLayout.JAVA_BYTE, i,
                            (byte) (in.segment().get(ValueLayout.JAVA_BYTE, i) ^ key));
                }
            }

            @Override
            public boolean readsInPlace() {
                return inPlace;
            }
        });
        Value before = base.values.get(field);
        return base.with(made, field, (sample, position) -> {
            byte key = draws ? (byte) drawn(position, step).nextInt() : 17;
            byte[] value = before.of(sample, position).clone();
            for (int i = 0; i < value.length; i++) {
                value[i] ^= key;
            }
            return value;
        }, draws || base.drawn[field]);
    }

    /** By the last byte of the other field. */
    private Tree mappedBeside(Tree base, int field) {
        int other = 1 - field;
        String step = "step " + steps++;
        Dataset made = base.dataset.map(specs.get(field).name(), specs.get(other).name(), specs.get(field), step, step,
                new SampleMap() {
                    @Override
                    public void map(Tensor in, RandomGenerator chance, Tensor out) {
                        throw new AssertionError("a session maps");
                    }

                    @Override
                    public Optional<Mapper> open() {
                        return Optional.of(new ByLastByte());
                    }
                });
        Value before = base.values.get(field);
        Value beside = base.values.get(other);
        return base.with(made, field, (sample, position) -> {
            byte[] key = beside.of(sample, position);
            byte[] value = before.of(sample, position).clone();
            for (int i = 0; i < value.length; i++) {
                value[i] ^= key.length == 0 ? 17 : key[key.length - 1];
            }
            return value;
        }, base.drawn[field] || base.drawn[other]);
    }

    private static final class ByLastByte implements SampleMap.Mapper {
        private byte key;

        @Override
        public void beside(MemorySegment value, long offset, long bytes) {
            key = bytes == 0 ? 17 : value.get(ValueLayout.JAVA_BYTE, offset + bytes - 1);
        }

        @Override
        public void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator chance, MemorySegment out,
                long outOffset, long outBytes, PartClock clock) {
            for (long i = 0; i < inBytes; i++) {
                out.set(ValueLayout.JAVA_BYTE, outOffset + i,
                        (byte) (in.get(ValueLayout.JAVA_BYTE, inOffset + i) ^ key));
            }
        }
    }

    private static KeyedRandom drawn(long position, String step) {
        var keyed = new KeyedRandom(SEED, EPOCH);
        keyed.select(position, KeyedRandom.step(step));
        return keyed;
    }

    private Tree concatenated(Tree first, int depth, int otherDepth) throws IOException {
        List<Tree> trees = List.of(first, tree(depth), tree(otherDepth));
        Dataset all = trees.get(0).dataset.concat(trees.get(1).dataset, trees.get(2).dataset);
        List<Value> values = new ArrayList<>();
        boolean[] draws = new boolean[FIELDS];
        for (int f = 0; f < FIELDS; f++) {
            int field = f;
            values.add((sample, position) -> {
                long at = sample;
                int part = 0;
                while (at >= trees.get(part).dataset.size()) {
                    at -= trees.get(part++).dataset.size();
                }
                return trees.get(part).values.get(field).of(at, position);
            });
            draws[f] = trees.stream().anyMatch(tree -> tree.drawn[field]);
        }
        return new Tree(all, values, draws);
    }

    private Tree leaf() {
        int size = random.nextInt(1, 40);
        if (!specs.getFirst().isVariable() && random.nextInt(4) == 0) {
            return generated(size);
        }
        List<FieldSource> sources = new ArrayList<>();
        List<Value> values = new ArrayList<>();
        for (TensorSpec spec : specs) {
            byte[][] bytes = new byte[size][];
            long[] starts = new long[size + 1];
            for (int s = 0; s < size; s++) {
                bytes[s] = new byte[spec.isVariable() ? random.nextInt(9) : WIDTH];
                random.nextBytes(bytes[s]);
                starts[s + 1] = starts[s] + bytes[s].length;
            }
            MemorySegment all = arena.allocate(Math.max(1, starts[size]), 8);
            for (int s = 0; s < size; s++) {
                MemorySegment.copy(bytes[s], 0, all, ValueLayout.JAVA_BYTE, starts[s], bytes[s].length);
            }
            FieldSource.Place place = (sample, into) -> into.set(all, starts[(int) sample],
                    starts[(int) sample + 1] - starts[(int) sample]);
            int kind = random.nextInt(4);
            sources.add(switch (kind) {
                case 0 -> FieldSource.stored(place);
                case 1 -> new FieldSource.InParts(_ -> 2, (sample, part, into) -> {
                    place.locate(sample, into);
                    long half = into.byteSize() / 2;
                    into.setPart(into, part == 0 ? 0 : half, part == 0 ? half : into.byteSize() - half);
                });
                case 2 -> new FieldSource.Decoded(place, new PlusOne(spec));
                default -> spec.isVariable() ? FieldSource.stored(place)
                        : FieldSource.rows(new Rows(null, all, 0, WIDTH, WIDTH, size));
            });
            values.add((sample, _) -> {
                byte[] value = bytes[(int) sample].clone();
                for (int i = 0; i < value.length && kind == 2; i++) {
                    value[i]++;
                }
                return value;
            });
        }
        return new Tree(new Leaf(size, specs, sources), values, new boolean[FIELDS]);
    }

    private Tree generated(int size) {
        boolean draws = random.nextBoolean();
        String name = "generator " + steps++;
        Dataset made = Dataset.generate(size, specs, name, (sample, chance, out) -> {
            byte key = draws ? (byte) chance.nextInt() : (byte) sample;
            for (int f = 0; f < FIELDS; f++) {
                out.tensor(specs.get(f).name()).segment().fill((byte) (key + f));
            }
        });
        List<Value> values = new ArrayList<>();
        for (int f = 0; f < FIELDS; f++) {
            int field = f;
            values.add((sample, position) -> {
                byte[] value = new byte[WIDTH];
                Arrays.fill(value, (byte) ((draws ? (byte) drawn(position, name).nextInt() : (byte) sample) + field));
                return value;
            });
        }
        return new Tree(made, values, new boolean[] {draws, draws});
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyCombinationGivesWhatASlowReferenceGives(boolean varies) throws IOException {
        specs = List.of(new TensorSpec("a", DType.U8, varies ? TensorSpec.VARIABLE : WIDTH),
                new TensorSpec("b", DType.U8, WIDTH));
        for (int round = 0; round < TREES; round++) {
            random = new SplittableRandom(SEED + round);
            Tree tree = tree(random.nextInt(1, DEPTH));
            try (var reader = new SampleReader(tree.dataset, ReadMode.AUTO)) {
                var keyed = new KeyedRandom(SEED, EPOCH);
                reader.random((position, step) -> {
                    keyed.select(position, step);
                    return keyed;
                });
                for (int batch = 0; batch < 3; batch++) {
                    check(tree, reader, random.longs(random.nextInt(1, 9), 0, tree.dataset.size()).toArray(),
                            "round " + round + ": " + tree.dataset.fingerprint());
                }
                assertThrows(RuntimeException.class, () -> reader.locate(tree.dataset.size(), 0));
            }
            caches.forEach(Cached::close);
            caches.clear();
        }
    }

    private void check(Tree tree, SampleReader reader, long[] samples, String about) {
        BatchPlan plan = Plans.of(samples);
        for (int f = 0; f < FIELDS; f++) {
            byte[][] expected = new byte[samples.length][];
            int all = 0;
            for (int i = 0; i < samples.length; i++) {
                expected[i] = tree.values.get(f).of(samples[i], i);
                all += expected[i].length;
                assertArrayEquals(expected[i], bytes(reader.locate(plan, i, f)), about);
                assertEquals(expected[i].length, reader.byteSize(samples[i], f), about);
            }
            MemorySegment target = arena.allocate(all + 1L);
            assertEquals(all, reader.copyAll(plan, f, target, 1), about);
            reader.locateAll(plan, f);
            int at = 1;
            for (int i = 0; i < samples.length; i++) {
                assertArrayEquals(expected[i], target.asSlice(at, expected[i].length)
                        .toArray(ValueLayout.JAVA_BYTE), about);
                at += expected[i].length;
                assertEquals(expected[i].length, reader.locatedBytes(i), about);
                reader.prefetch(samples[i], f);
                assertArrayEquals(expected[i], bytes(reader.located(i)), about);
                assertEquals(samples[i], reader.sample());
            }
        }
        long longest = LongStream.range(0, tree.dataset.size()).map(s -> tree.values.get(0).of(s, 0).length).max()
                .orElseThrow();
        assertEquals(longest, tree.dataset.maxLength(0), about);
    }

    private static byte[] bytes(Span span) {
        return span.slice().toArray(ValueLayout.JAVA_BYTE);
    }
}
