// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.collate.PackedSlabReference.Row;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.testing.MemoryTokenStore;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PackedLmTest {

    private static final long SEED = 20261121;

    private static List<Row> rows(MemoryTokenStore store, PackedSequences packed, long[] samples) {
        List<Row> rows = new ArrayList<>();
        for (long sample : samples) {
            Row row = new Row(new ArrayList<>());
            for (int p = 0; p < packed.parts(sample); p++) {
                long document = packed.document(sample, p);
                long from = store.documentStart(document) + packed.firstToken(sample, p);
                long end = store.documentStart(document + 1);
                List<Long> tokens = new ArrayList<>();
                for (long t = from; t < Math.min(end, from + packed.packing().capacity() + 1); t++) {
                    tokens.add(token(store, t));
                }
                row.pieces().add(tokens);
            }
            rows.add(row);
        }
        return rows;
    }

    private static long token(MemoryTokenStore store, long position) {
        Span span = new Span();
        store.locate(position, 1, span);
        long value = 0;
        for (int b = 0; b < store.dtype().byteSize(); b++) {
            value |= (span.segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, span.byteOffset() + b) & 0xFFL)
                    << 8 * b;
        }
        int unused = 64 - 8 * store.dtype().byteSize();
        return store.dtype().isUnsigned() ? value : value << unused >> unused;
    }

    @Test
    void everyFieldIsWhatItsDefinitionSays() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < 60; round++) {
            DType dtype = new DType[] {DType.U16, DType.I32, DType.U32, DType.I64, DType.U8}[round % 5];
            long[] starts = new long[random.nextInt(2, 30)];
            for (int d = 1; d < starts.length; d++) {
                starts[d] = starts[d - 1] + random.nextInt(40);
            }
            starts[starts.length - 1]++;
            int capacity = random.nextInt(1, 30);
            for (TokenWidth width : TokenWidth.values()) {
                if (width == TokenWidth.I32 && dtype != DType.U16 && dtype != DType.I32 && dtype != DType.U8
                        && dtype != DType.U32) {
                    continue;
                }
                EnumSet<PackedLm.Field> fields = EnumSet.noneOf(PackedLm.Field.class);
                for (PackedLm.Field field : PackedLm.Field.values()) {
                    if (random.nextInt(4) > 0 && !(field == PackedLm.Field.LABELS && width == TokenWidth.STORE)) {
                        fields.add(field);
                    }
                }
                try (var store = new MemoryTokenStore(dtype, starts);
                        var packed = Packing.of(Documents.of(store), capacity).pack();
                        var slab = new PoisonedSlab(width.packed(fields), packed, 4);
                        var reader = new SampleReader(packed, ReadMode.AUTO)) {
                    for (int batch = 0; batch < 4; batch++) {
                        long[] samples = LongStream.generate(() -> random.nextLong(packed.size()))
                                .limit(random.nextInt(1, 5)).toArray();
                        slab.check(reader, samples, s -> PackedSlabReference.fields(rows(store, packed, s), capacity,
                                width.dtype(dtype), fields));
                    }
                }
            }
        }
    }

    @Test
    void whatIsNotPackedOrHasNoRoomForLabelsIsRefused() {
        try (var store = new MemoryTokenStore(DType.U16, 100)) {
            assertThrows(IllegalArgumentException.class,
                    () -> PackedLm.of(DType.I64).layout(TokenWindows.of(store, 8), 2));
            assertThrows(IllegalArgumentException.class,
                    () -> PackedLm.narrow(EnumSet.of(PackedLm.Field.LABELS)));
            try (var packed = Packing.of(Documents.of(store), 8).pack()) {
                assertThrows(IllegalArgumentException.class,
                        () -> PackedLm.of(DType.I32).layout(packed, Integer.MAX_VALUE / 8 + 1));
                assertEquals(7, PackedLm.of(DType.I32).layout(packed, 2).fields().size());
            }
        }
    }
}
