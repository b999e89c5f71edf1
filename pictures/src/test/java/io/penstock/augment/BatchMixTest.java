// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** MixUp and CutMix of batches. */
class BatchMixTest {

    private static final long SEED = 5;
    private static final int CLASSES = 4;

    @Test
    void imagesAndSoftLabelsEqualThoseOfTorchvision() throws IOException {
        List<Object> lines = AugmentVectorsTest.lines("batches");
        Map<String, Object> given = Json.object(lines.getFirst());
        float[] images = floats(given.get("images"));
        long[] labels = AugmentVectorsTest.shape(given.get("labels"));
        long imageBytes = 3 * 6 * 7 * Float.BYTES;
        assertEquals(10, lines.size());
        for (Object line : lines.subList(1, lines.size())) {
            Map<String, Object> member = Json.object(line);
            float[] mixed = images.clone();
            MemorySegment memory = MemorySegment.ofArray(mixed);
            boolean isCut = member.containsKey("cutMix");
            double weight = AugmentVectorsTest.real(member.get(isCut ? "cutMix" : "mixUp"));
            if (isCut) {
                int[] box = Json.array(member.get("rectangle")).stream()
                        .mapToInt(n -> ((Number) n).intValue()).toArray();
                MixRows.ofThread().cut(memory, 0, imageBytes, 5, 3, 6, 7 * Float.BYTES, box[0], box[2],
                        box[1] * Float.BYTES, (box[3] - box[1]) * Float.BYTES);
            } else {
                Arrays.fill(MixRows.ofThread().weights(5), weight);
                MixRows.ofThread().mix(memory, 0, DType.F32, imageBytes, 5);
            }
            assertArrayEquals(floats(member.get("images")), mixed, member::toString);
            float[] expected = floats(member.get("labels"));
            for (int i = 0; i < 5; i++) {
                float[] share = new float[CLASSES];
                MixRows.share(share, (int) labels[i], (int) labels[(i + 4) % 5], weight);
                assertArrayEquals(Arrays.copyOfRange(expected, i * CLASSES, (i + 1) * CLASSES), share);
            }
        }
    }

    private static float[] floats(Object text) {
        byte[] bytes = Base64.getDecoder().decode((String) text);
        return MemorySegment.ofArray(bytes).toArray(LittleEndian.F32);
    }

    /** Images of random bytes, in the dtype and order asked for, with a label. */
    private static Dataset samples(int count, DType dtype, long... shape) {
        return Dataset.generate(count, List.of(new TensorSpec("image", dtype, shape),
                new TensorSpec("label", DType.I32)), "noise", (sample, _, out) -> {
                    var random = new Random(sample);
                    MemorySegment image = out.tensor("image").segment();
                    for (long i = 0; i < image.byteSize(); i += dtype.byteSize()) {
                        float value = random.nextInt(256);
                        switch (dtype) {
                            case U8 -> image.set(JAVA_BYTE, i, (byte) (int) value);
                            case F16 -> image.set(LittleEndian.I16, i, Float.floatToFloat16(value));
                            case BF16 -> image.set(LittleEndian.I16, i, (short) (Float.floatToIntBits(value) >>> 16));
                            default -> image.set(LittleEndian.F32, i, value);
                        }
                    }
                    out.tensor("label").segment().set(LittleEndian.I32, 0, (int) (sample % CLASSES));
                });
    }

    @Test
    void aBatchIsMixedByTheParametersOfItsFirstPositionInEveryDtype() {
        for (DType dtype : List.of(DType.U8, DType.F16, DType.BF16, DType.F32)) {
            Dataset samples = samples(20, dtype, 5, 6, 3);
            BatchMix pairs = BatchMix.pairs("image", "label").cutMix(1, Layout.NHWC);
            BatchMix mix = dtype == DType.F16 ? pairs.mixUpEach(1) : pairs.mixUp(1);
            try (DataLoader mixed = loader(samples, mix, 8, 2, null);
                    DataLoader plain = loader(samples, null, 8, 2, null)) {
                while (plain.hasNext()) {
                    try (Batch expected = plain.next(); Batch found = mixed.next()) {
                        assertMixed(dtype, mix, expected, found);
                    }
                }
                assertTrue(!mixed.hasNext());
            }
        }
    }

    private static void assertMixed(DType dtype, BatchMix mix, Batch expected, Batch found) {
        double[] drawn = new double[BatchMix.PARAMETERS];
        var random = new KeyedRandom(SEED, expected.epoch());
        random.select(expected.position(0), KeyedRandom.step(BatchMix.NAME));
        mix.draw(random, 5, 6, drawn);
        double[] weights = new double[expected.count()];
        mix.drawWeights(random, drawn, weights, expected.count());
        for (int row = 0; row < expected.count(); row++) {
            int partner = (row + expected.count() - 1) % expected.count();
            assertEquals(expected.tensor("label").getLong(row), found.tensor("label").getLong(row));
            assertEquals(expected.tensor("label").getLong(partner), found.tensor("label_partner").getLong(row));
            assertEquals((float) weights[row], found.tensor("label_weight").getDouble(row));
            for (int i = 0; i < 5 * 6 * 3; i++) {
                float a = number(expected.tensor("image").row(row), i);
                float b = number(expected.tensor("image").row(partner), i);
                int y = i / 18;
                int x = i / 3 % 6;
                boolean isCut = y >= drawn[2] && y < drawn[4] && x >= drawn[3] && x < drawn[5];
                float mixture = drawn[0] == 2 ? isCut ? b : a
                        : b * (float) (1 - weights[row]) + a * (float) weights[row];
                float tolerance = dtype == DType.F32 || drawn[0] == 2 ? 0 : dtype == DType.U8 ? 0.5f
                        : mixture * (dtype == DType.F16 ? 0x1p-11f : 0x1p-8f);
                assertEquals(mixture, number(found.tensor("image").row(row), i), tolerance);
            }
        }
    }

    private static float number(Tensor tensor, int i) {
        return tensor.dtype() == DType.U8 ? tensor.getLong(i) : (float) tensor.getDouble(i);
    }

    private static DataLoader loader(Dataset samples, BatchMix mix, int batchSize, int workers, LoaderState from) {
        var settings = DataLoader.builder(samples).batchSize(batchSize).shuffle(SEED).endEpoch(2).workers(workers);
        if (mix != null) {
            settings.collator(mix);
        }
        if (from != null) {
            settings.resume(from);
        }
        return settings.open();
    }

    @Test
    void workersAndResumingDoNotChangeABatch() {
        Dataset samples = samples(22, DType.U8, 5, 6, 3);
        BatchMix mix = BatchMix.soft("image", "label", CLASSES).mixUp(0.4).cutMix(1, Layout.NHWC).probability(0.8);
        List<Integer> expected = new ArrayList<>();
        LoaderState state = null;
        try (DataLoader loader = loader(samples, mix, 4, 0, null)) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    expected.add(digest(batch));
                }
                if (expected.size() == 3) {
                    state = loader.state();
                }
            }
        }
        assertEquals(expected, digests(loader(samples, mix, 4, 3, null)));
        assertEquals(expected.subList(3, expected.size()), digests(loader(samples, mix, 4, 2, state)));
    }

    private static List<Integer> digests(DataLoader opened) {
        List<Integer> found = new ArrayList<>();
        try (DataLoader loader = opened) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    found.add(digest(batch));
                }
            }
        }
        return found;
    }

    private static int digest(Batch batch) {
        return Arrays.hashCode(batch.tensor("image").segment().toArray(JAVA_BYTE)) * 31
                + Arrays.hashCode(batch.tensor("label").segment().toArray(JAVA_BYTE));
    }

    @Test
    void samplesWithoutWeightAreNotMixed() {
        Dataset samples = samples(5, DType.F32, 3, 4, 4);
        BatchMix mix = BatchMix.soft("image", "label", CLASSES).mixUp(1);
        try (DataLoader loader = DataLoader.builder(samples).batchSize(4).shard(new Shard(1, 2, TailPolicy.EXACT))
                .endEpoch(1).collator(mix).open(); Batch batch = loader.next()) {
            assertEquals(2, batch.valid());
            assertEquals(3, batch.count());
            int own = (int) (batch.sample(2) % CLASSES);
            for (int k = 0; k < CLASSES; k++) {
                assertEquals(k == own ? 1 : 0, batch.tensor("label").row(2).getDouble(k));
            }
            float[] plain = new float[48];
            batch.tensor("image").row(2).copyTo(plain);
            var random = new Random(batch.sample(2));
            for (float value : plain) {
                assertEquals(random.nextInt(256), value);
            }
        }
    }

    /** Labels of each type, as they are and mapped: what a label of 32 bits gives. */
    @Test
    void labelsOfAnyIntegerTypeAndTruthValuesAreClasses() {
        for (DType dtype : DType.values()) {
            if (!dtype.isInteger() && dtype != DType.BOOL) {
                continue;
            }
            int classes = dtype == DType.BOOL ? 2 : CLASSES;
            List<TensorSpec> fields = List.of(new TensorSpec("image", DType.U8, 3, 4, 4),
                    new TensorSpec("label", dtype));
            Dataset samples = Dataset.generate(8, fields, "labels", (sample, _, out) ->
                    putInteger(out.tensor("label").segment(), sample % classes));
            Dataset mapped = samples.map("label", fields.get(1), "as they are", (in, _, out) ->
                    out.segment().copyFrom(in.segment()));
            for (Dataset each : List.of(samples, mapped)) {
                for (BatchMix mix : List.of(BatchMix.soft("image", "label", classes).mixUp(1),
                        BatchMix.pairs("image", "label").mixUp(1))) {
                    try (DataLoader loader = DataLoader.builder(each).batchSize(8).shuffle(1).endEpoch(1).collator(mix)
                            .open(); Batch batch = loader.next()) {
                        assertClasses(batch, dtype, classes);
                    }
                }
            }
        }
    }

    private static void putInteger(MemorySegment target, long value) {
        for (long i = 0; i < target.byteSize(); i++) {
            target.set(JAVA_BYTE, i, (byte) (value >> 8 * i));
        }
    }

    private static void assertClasses(Batch batch, DType dtype, int classes) {
        Tensor labels = batch.tensor("label");
        for (int i = 0; i < 8; i++) {
            int own = (int) (batch.sample(i) % classes);
            int partner = (int) (batch.sample((i + 7) % 8) % classes);
            if (labels.rank() == 1) {
                assertEquals(own, labels.getLong(i), dtype::toString);
                assertEquals(partner, batch.tensor("label_partner").getLong(i), dtype::toString);
                continue;
            }
            double sum = own == partner ? labels.row(i).getDouble(own)
                    : labels.row(i).getDouble(own) + labels.row(i).getDouble(partner);
            assertEquals(1, sum, 1e-6, dtype::toString);
        }
    }

    @Test
    void aLabelThatIsNoClassIsABadSample() {
        Dataset samples = samples(8, DType.U8, 3, 4, 4);
        try (DataLoader loader = DataLoader.builder(samples).batchSize(8).endEpoch(1)
                .collator(BatchMix.soft("image", "label", 3)).open()) {
            String message = assertThrows(BatchException.class, loader::next).getMessage();
            assertTrue(message.contains("sample 3, field 'label': class 3, expected 0 to 2"), message);
        }
    }

    @Test
    void whatDoesNotFitIsRefused() {
        Dataset samples = samples(8, DType.U8, 3, 4, 4);
        refused("found label: i32[], expected images of three dimensions, u8, f16, bf16 or f32",
                BatchMix.soft("label", "label", 3), samples);
        refused("found image: u8[3,4,4], expected one integer, the class", BatchMix.soft("image", "image", 3), samples);
        assertEquals("alpha 0.0, expected a positive number", assertThrows(IllegalArgumentException.class,
                () -> BatchMix.pairs("image", "label").mixUp(0)).getMessage());
    }

    private static void refused(String message, BatchMix mix, Dataset samples) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> mix.layout(samples, 4)).getMessage());
    }
}
