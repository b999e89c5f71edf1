package io.penstock.collate;

import static io.penstock.testing.Members.fields;

import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.SampleReader;
import io.penstock.memory.DType;
import io.penstock.memory.ReadMode;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Span;
import io.penstock.memory.Tensor;
import io.penstock.store.TokenStore;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.Plans;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Vectors of the specification's page on packing. */
public final class PackingVectors {

    private static final long[] FEW = {3, 0, 9, 5, 5, 1, 17, 2, 8, 4};

    private PackingVectors() {
    }

    /** All of them. */
    public static Map<String, Object> packing() {
        List<Object> packings = new ArrayList<>();
        var random = new SplittableRandom(5);
        long[] many = random.longs(60, 0, 40).toArray();
        for (long[] lengths : new long[][] {{1}, FEW, many}) {
            for (int capacity : new int[] {1, 4, 8, 20}) {
                for (Packing.Method method : Packing.Method.values()) {
                    packings.add(packing(lengths, capacity, method, Long.MAX_VALUE));
                    packings.add(packing(lengths, capacity, method, 7));
                }
            }
        }
        List<Object> batches = new ArrayList<>();
        batches.add(batch(FEW, 8, 0, 1, 2));
        batches.add(batch(FEW, 8, 6));
        batches.add(batch(FEW, 5, 3, 10, 1, 0));
        batches.add(batch(FEW, 40, 1, 0));
        return fields("packings", packings, "batches", batches);
    }

    private static MemoryTokenStore store(long[] lengths) {
        long[] starts = new long[lengths.length + 1];
        for (int d = 0; d < lengths.length; d++) {
            starts[d + 1] = starts[d] + lengths[d];
        }
        return new MemoryTokenStore(DType.I32, starts);
    }

    private static Map<String, Object> packing(long[] lengths, int capacity, Packing.Method method, long window) {
        try (var store = store(lengths);
                var packed = new Packing(Documents.of(store), capacity, method, window).pack()) {
            List<Object> sequences = new ArrayList<>();
            Span span = new Span();
            for (long s = 0; s < packed.size(); s++) {
                List<Object> pieces = new ArrayList<>();
                for (int p = 0; p < packed.parts(s, 0); p++) {
                    packed.locatePart(s, 0, p, span);
                    pieces.add(List.of(packed.document(s, p), packed.firstToken(s, p), span.byteSize() / 4));
                }
                sequences.add(pieces);
            }
            Map<String, Object> fields = fields("lengths", LongStream.of(lengths).boxed().toList(), "capacity",
                    capacity);
            if (window != Long.MAX_VALUE) {
                fields.put("window", window);
            }
            fields.put("method", method.toString());
            fields.put("sequences", sequences);
            return fields;
        }
    }

    private static Map<String, Object> batch(long[] lengths, int capacity, long... sequences) {
        try (var store = new CountingTokens(lengths); Arena arena = Arena.ofConfined();
                PackedSequences packed = Packing.of(Documents.of(store), capacity).pack();
                var reader = new SampleReader(packed, ReadMode.AUTO)) {
            PackedLm collator = PackedLm.of(TokenWidth.I32, EnumSet.allOf(PackedLm.Field.class));
            SlabLayout layout = collator.layout(packed, sequences.length);
            Slab slab = new Slab(layout, arena.allocate(layout.capacityBytes()));
            collator.collate(reader, Plans.of(sequences), slab);
            Map<String, Object> values = fields();
            for (int f = 0; f < layout.fields().size(); f++) {
                Tensor tensor = slab.tensor(f);
                values.put(layout.fields().get(f).name(),
                        LongStream.range(0, tensor.elementCount()).map(tensor::getLong).boxed().toList());
            }
            return fields("lengths", LongStream.of(lengths).boxed().toList(), "capacity", capacity, "sequences",
                    LongStream.of(sequences).boxed().toList(), "fields", values);
        }
    }

    /** Documents whose tokens are 1000, 1001, … */
    private static final class CountingTokens implements TokenStore {

        private final Arena arena = Arena.ofShared();
        private final long[] starts;
        private final MemorySegment tokens;

        CountingTokens(long[] lengths) {
            starts = new long[lengths.length + 1];
            for (int d = 0; d < lengths.length; d++) {
                starts[d + 1] = starts[d] + lengths[d];
            }
            tokens = arena.allocate(ValueLayout.JAVA_INT, starts[lengths.length]);
            for (long t = 0; t < tokenCount(); t++) {
                tokens.setAtIndex(ValueLayout.JAVA_INT, t, (int) (1000 + t));
            }
        }

        @Override
        public DType dtype() {
            return DType.I32;
        }

        @Override
        public long tokenCount() {
            return starts[starts.length - 1];
        }

        @Override
        public long documentCount() {
            return starts.length - 1;
        }

        @Override
        public long documentStart(long document) {
            return starts[(int) document];
        }

        @Override
        public void locate(long firstToken, long count, Span into) {
            into.set(tokens, 4 * firstToken, 4 * count);
        }

        @Override
        public String fingerprint() {
            return "counting";
        }

        @Override
        public void close() {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }
    }
}
