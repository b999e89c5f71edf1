// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PackedLm;
import io.penstock.dataset.Documents;
import io.penstock.dataset.Packing;
import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.transform.PackedTokens.Result;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What the stage of packed batches refuses; {@link TransformTest} has the bytes. */
class PackedTokensTest {
    private static final TensorSpec TOKENS = new TensorSpec("input_ids", DType.U16, 2, 9);
    private static final TensorSpec STARTS = new TensorSpec("cu_seqlens", DType.I32, 7);
    private static final TensorSpec LENGTHS = new TensorSpec("lengths", DType.I32, 2);

    private static void refused(String message, TensorSpec... fields) {
        try (Device device = Device.host()) {
            assertEquals(message, assertThrows(IllegalArgumentException.class,
                    () -> PackedTokens.of(DType.I64).open(device, SlabLayout.of(fields))).getMessage());
        }
    }

    @Test
    void fieldsOfOtherTypesOrSizes() {
        refused("found input_ids: f32[2,9], expected integers [B, S]",
                new TensorSpec("input_ids", DType.F32, 2, 9), STARTS, LENGTHS);
        refused("no field 'lengths', the batch has [input_ids, cu_seqlens]", TOKENS, STARTS);
        refused("found cu_seqlens: i64[7], expected i32 [N + 1] with N of at least 1",
                TOKENS, new TensorSpec("cu_seqlens", DType.I64, 7), LENGTHS);
        refused("found loss_bits: u8[2,1], expected loss_bits: u8[2,2]",
                TOKENS, STARTS, LENGTHS, new TensorSpec("loss_bits", DType.U8, 2, 1));
        assertThrows(IllegalArgumentException.class, () -> PackedTokens.of(DType.U16));
    }

    private static String message(int[] starts, int... lengths) {
        SlabLayout fields = SlabLayout.of(TOKENS, STARTS, LENGTHS);
        try (Device device = Device.host(); DeviceStream stream = device.openStream("s");
                OpenStage stage = PackedTokens.of(DType.I64).open(device, fields); Arena arena = Arena.ofConfined()) {
            var inputs = new DeviceFields(fields);
            var outputs = new DeviceFields(stage.outputs());
            inputs.begin(2);
            outputs.begin(2);
            inputs.setDim(1, 0, starts.length);
            MemorySegment bounds = arena.allocateFrom(ValueLayout.JAVA_INT, starts);
            MemorySegment used = arena.allocateFrom(ValueLayout.JAVA_INT, lengths);
            inputs.setHostAddress(1, bounds.address());
            inputs.setHostAddress(2, used.address());
            return assertThrows(IllegalArgumentException.class, () -> stage.enqueue(stream, inputs, outputs))
                    .getMessage();
        }
    }

    @Test
    void startsThatAreNotThoseOfTheRows() {
        assertEquals("cu_seqlens[0]: 1, expected 0", message(new int[] {1, 9, 18}, 9, 9));
        assertEquals("cu_seqlens[2]: 3, expected more than 4 and at most 18",
                message(new int[] {0, 4, 3, 9, 18}, 9, 9));
        assertEquals("cu_seqlens[2]: 19, expected more than 9 and at most 18", message(new int[] {0, 9, 19}, 9, 9));
        assertEquals("cu_seqlens: no entry 9, expected one where row 1 begins, and where its padding begins",
                message(new int[] {0, 10, 18}, 0, 9));
        assertEquals("cu_seqlens: no entry 5, expected one where row 0 begins, and where its padding begins",
                message(new int[] {0, 9, 18}, 5, 9));
        assertEquals("lengths[1]: 10, expected 0 to 9", message(new int[] {0, 9, 18}, 9, 10));
    }

    /** A user's program, against the collator that makes the same fields on the CPU. No document is cut. */
    @Test
    void aNarrowBatchOfALoaderBecomesWhatTheCollatorWrites() {
        long[] starts = new long[400];
        var random = new SplittableRandom(7);
        for (int d = 1; d < starts.length; d++) {
            starts[d] = starts[d - 1] + random.nextInt(1, 60);
        }
        PackedLm narrow = PackedLm.narrow(EnumSet.of(PackedLm.Field.CU_SEQLENS, PackedLm.Field.LENGTHS));
        int batches = 0;
        try (var store = new MemoryTokenStore(DType.U16, starts);
                var packed = Packing.of(Documents.of(store), 64).pack();
                DataLoader wide = DataLoader.builder(packed).collator(PackedLm.of(DType.I32)).batchSize(8)
                        .shuffle(1).endEpoch(1).open();
                DataLoader staged = DataLoader.builder(packed).collator(narrow).batchSize(8).shuffle(1).endEpoch(1)
                        .onDevice(PackedTokens.of(DType.I32)).open()) {
            for (; wide.hasNext(); batches++) {
                try (Batch expected = wide.next(); Batch batch = staged.next()) {
                    for (String name : List.of("input_ids", "labels", "position_ids", "document_ids", "cu_seqlens")) {
                        assertEquals(expected.tensor(name).toString(), batch.tensor(name).toString());
                        assertEquals(-1, expected.tensor(name).segment().mismatch(batch.tensor(name).segment()), name);
                    }
                }
            }
            assertFalse(staged.hasNext());
        }
        assertTrue(batches > 10, batches + " batches");
    }

    @Test
    void theFieldsAreThoseThatTheSpecificationsVectorsHave() throws IOException {
        Map<String, Object> vectors = Json.object(Json.parse(Files.readString(
                Path.of("docs/spec/vectors/packed-tokens.json"))));
        for (Object item : Json.array(vectors.get("batches"))) {
            Map<String, Object> vector = Json.object(item);
            int batch = Math.toIntExact((long) vector.get("batch"));
            int length = Math.toIntExact((long) vector.get("length"));
            List<TensorSpec> fields = new ArrayList<>(List.of(new TensorSpec("input_ids", DType.U16, batch, length),
                    new TensorSpec("cu_seqlens", DType.I32, Json.array(vector.get("cu_seqlens")).size()),
                    new TensorSpec("lengths", DType.I32, batch)));
            if (vector.containsKey("loss_bits")) {
                fields.add(new TensorSpec("loss_bits", DType.U8, batch, (length + 7) / 8));
            }
            var work = new StageWork(PackedTokens.of(DType.I32).outputs(Result.INPUT_IDS, Result.values()), batch,
                    fields.toArray(new TensorSpec[0]));
            var experiment = new Experiment("vector " + vector, work);
            for (TensorSpec field : fields) {
                Object values = vector.get(field.name().equals("input_ids") ? "tokens" : field.name());
                experiment.input(field.name(), cells(Cells.inputs(field.dtype(), Json.array(values).size()), values));
            }
            for (Result output : Result.values()) {
                String name = output.name().toLowerCase(Locale.ROOT);
                Object values = vector.get(output == Result.INPUT_IDS ? "tokens" : name);
                DType dtype = name.endsWith("mask") ? DType.BOOL : DType.I32;
                experiment.output(StageWork.OUT + name,
                        cells(Cells.outputs(dtype, Json.array(values).size()), values));
            }
            try (Lab lab = new DeviceLab(Device.host())) {
                experiment.verify(lab);
            }
        }
    }

    private static Cells cells(Cells cells, Object values) {
        int i = 0;
        for (Object value : Json.array(values)) {
            cells.set(i++, (long) value);
        }
        return cells;
    }
}
