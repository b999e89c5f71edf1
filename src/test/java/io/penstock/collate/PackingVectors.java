// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static io.penstock.json.Json.members;

import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.testing.Fields;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.Plans;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
        for (long[] lengths : new long[][] {{1}, {0, 0, 4, 0}, FEW, random.longs(60, 0, 40).toArray()}) {
            for (int capacity : new int[] {1, 4, 8, 20}) {
                for (Packing.Method method : Packing.Method.values()) {
                    for (long window : new long[] {Long.MAX_VALUE, 7, lengths.length, 1}) {
                        if (lengths.length <= FEW.length || capacity == 20 || capacity == 8 && window == 7) {
                            packings.add(packing(lengths, capacity, method, window));
                        }
                    }
                }
            }
        }
        for (int capacity : new int[] {10, 33, 64, 65, 130}) {
            long[] lengths = random.longs(120, 0, 40).toArray();
            for (Packing.Method method : Packing.Method.values()) {
                packings.add(packing(lengths, capacity, method, Long.MAX_VALUE));
                packings.add(packing(lengths, capacity, method, 50));
            }
        }
        List<Object> batches = new ArrayList<>();
        var all = EnumSet.range(PackedLm.Field.LABELS, PackedLm.Field.ATTENTION_MASK);
        batches.add(batch(FEW, 8, DType.I32, TokenWidth.I32, all, 0, 1, 2));
        batches.add(batch(FEW, 8, DType.I32, TokenWidth.I64, all, 6));
        batches.add(batch(FEW, 5, DType.U16, TokenWidth.I32, all, 3, 10, 1, 0));
        batches.add(batch(FEW, 40, DType.I32, TokenWidth.I32, all, 1, 0));
        batches.add(batch(FEW, 8, DType.U16, TokenWidth.STORE,
                EnumSet.range(PackedLm.Field.POSITION_IDS, PackedLm.Field.ATTENTION_MASK), 6, 4, 5, 6));
        batches.add(batch(FEW, 1, DType.I32, TokenWidth.I64, all, 0, 2, 3, 11));
        batches.add(batch(FEW, 7, DType.U16, TokenWidth.I64, EnumSet.of(PackedLm.Field.LABELS,
                PackedLm.Field.CU_SEQLENS), 5, 4, 3, 2, 1, 0, 7));
        return members("packings", packings, "batches", batches);
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
                for (int p = 0; p < packed.parts(s); p++) {
                    Fields.locatePart(packed, s, 0, p, span);
                    pieces.add(List.of(packed.document(s, p), packed.firstToken(s, p), span.byteSize() / 4));
                }
                sequences.add(pieces);
            }
            Map<String, Object> fields = members("lengths", list(lengths), "capacity",
                    capacity);
            if (window != Long.MAX_VALUE) {
                fields.put("window", window);
            }
            fields.put("method", method.toString());
            fields.put("sequences", sequences);
            return fields;
        }
    }

    private static Map<String, Object> batch(long[] lengths, int capacity, DType stored, TokenWidth width,
            Set<PackedLm.Field> wanted, long... sequences) {
        try (var store = counting(lengths, stored); Arena arena = Arena.ofConfined();
                PackedSequences packed = Packing.of(Documents.of(store), capacity).pack();
                var reader = new SampleReader(packed, ReadMode.AUTO)) {
            PackedLm collator = width.packed(wanted);
            SlabLayout layout = collator.layout(packed, sequences.length);
            Slab slab = new Slab(layout, arena.allocate(layout.capacityBytes()));
            collator.collate(reader, Plans.of(sequences), slab);
            List<Object> values = new ArrayList<>();
            for (int f = 0; f < layout.fields().size(); f++) {
                Tensor tensor = slab.tensor(f);
                values.add(members("name", layout.fields().get(f).name(), "dtype", tensor.dtype().toString(),
                        "greatest", list(layout.fields().get(f).shape()), "shape", list(tensor.shape()), "values",
                        LongStream.range(0, tensor.elementCount()).map(tensor::getLong).boxed().toList()));
            }
            return members("lengths", list(lengths), "capacity", capacity, "stored", stored.toString(), "width",
                    width.toString(), "sequences", list(sequences), "fields", values);
        }
    }

    private static List<Long> list(long[] values) {
        return LongStream.of(values).boxed().toList();
    }

    /** Documents whose tokens are 1000, 1001, … */
    private static MemoryTokenStore counting(long[] lengths, DType dtype) {
        long[] starts = new long[lengths.length + 1];
        for (int d = 0; d < lengths.length; d++) {
            starts[d + 1] = starts[d] + lengths[d];
        }
        return new MemoryTokenStore(dtype, starts, position -> 1000 + position);
    }
}
