// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.collate.PoisonedSlab.Field;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.testing.MemoryRecordStore;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class StackAndPadTest {

    private static final int RECORDS = 60;
    private static final long SEED = 8;

    /** A fixed pair of u16, pairs of f32 of any number, text of any length. */
    private final List<Column> columns = List.of(Column.numbers("pair", DType.U16, 2),
            Column.numbers("points", DType.F32, TensorSpec.VARIABLE, 2), Column.text("txt", ""));
    private final byte[][][] values = values();

    private static byte[][][] values() {
        var random = new SplittableRandom(SEED);
        byte[][][] values = new byte[RECORDS][3][];
        for (byte[][] record : values) {
            record[0] = bytes(random, 4);
            record[1] = bytes(random, 8 * random.nextInt(20));
            record[2] = bytes(random, random.nextInt(30) * random.nextInt(2));
        }
        return values;
    }

    private static byte[] bytes(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private List<Field> reference(long[] samples, int limit) {
        List<Field> fields = new ArrayList<>();
        for (int c = 0; c < columns.size(); c++) {
            TensorSpec spec = columns.get(c).spec();
            int rowBytes = (int) (spec.isVariable() ? spec.rowBytes() : spec.byteSize());
            int column = c;
            int longest = Arrays.stream(samples).mapToInt(s -> Math.min(limit,
                    values[(int) s][column].length / rowBytes)).max().orElse(0);
            var data = new ByteArrayOutputStream();
            List<Long> lengths = new ArrayList<>();
            for (long sample : samples) {
                byte[] value = values[(int) sample][c];
                lengths.add((long) Math.min(limit, value.length / rowBytes));
                data.writeBytes(Arrays.copyOf(Arrays.copyOf(value, (int) Math.min(value.length,
                        lengths.getLast() * rowBytes)), longest * rowBytes));
            }
            long batch = samples.length;
            switch (c) {
                case 0 -> fields.add(new Field("pair", DType.U16, List.of(batch, 2L), data.toByteArray()));
                case 1 -> fields.add(new Field("points", DType.F32, List.of(batch, (long) longest, 2L),
                        data.toByteArray()));
                default -> fields.add(new Field("txt", DType.U8, List.of(batch, (long) longest), data.toByteArray()));
            }
            if (c > 0) {
                fields.add(Field.of(spec.name() + "_lengths", DType.I32, List.of(batch), lengths));
            }
        }
        return fields;
    }

    @Test
    void fixedFieldsAreStackedAndVariableOnesPaddedWithZerosAndTheirLengths() {
        var random = new SplittableRandom(SEED + 1);
        try (var store = new MemoryRecordStore(columns, values)) {
            RecordFields dataset = RecordFields.of(store).and("pair").and("points").and("txt");
            for (int limit : new int[] {Integer.MAX_VALUE, 7, 1}) {
                StackAndPad collator = limit == Integer.MAX_VALUE ? StackAndPad.fields() : StackAndPad.cutTo(limit);
                try (var slab = new PoisonedSlab(collator, dataset, 8);
                        var reader = new SampleReader(dataset, ReadMode.AUTO)) {
                    for (int round = 0; round < 50; round++) {
                        long[] samples = LongStream.generate(() -> random.nextLong(RECORDS))
                                .limit(random.nextInt(1, 9)).toArray();
                        slab.check(reader, samples, s -> reference(s, limit));
                    }
                }
            }
        }
    }

    @Test
    void theSlabHasRoomForABatchOfTheLongestSamplesOnceCut() {
        try (var store = new MemoryRecordStore(columns, values)) {
            RecordFields dataset = RecordFields.of(store).and("points");
            long longest = Arrays.stream(values).mapToLong(v -> v[1].length / 8).max().orElseThrow();
            assertEquals(SlabLayout.of(new TensorSpec("points", DType.F32, 4, longest, 2),
                    new TensorSpec("points_lengths", DType.I32, 4)), StackAndPad.fields().layout(dataset, 4));
            assertEquals(5, StackAndPad.cutTo(5).layout(dataset, 4).fields().getFirst().dim(1));
            assertThrows(IllegalArgumentException.class, () -> StackAndPad.cutTo(0));
        }
    }
}
