// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.penstock.augment.Augment;
import io.penstock.dataset.Dataset;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fields of a stream are mapped and augmented as those of a store, in workers and on the device. */
class StreamFieldsTest {

    private static void add(Batch batch, List<Long> to) {
        try (batch) {
            Tensor ids = batch.tensor("id");
            for (int row = 0; row < batch.count(); row++) {
                to.add(NumberSource.id(ids.getLong(2L * row), ids.getLong(2L * row + 1)));
            }
        }
    }

    @Test
    void aFieldOfAStreamCanBeDuplicated() {
        var source = NumberSource.of(2, 10);
        try (StreamDataset stream = source.dataset().open();
                DataLoader loader = DataLoader.builder(stream.duplicate("id", "id", "again")).batchSize(4).workers(2)
                        .open()) {
            List<Long> ids = new ArrayList<>();
            for (Batch batch : loader.epoch()) {
                assertEquals(-1, batch.tensor("id").segment().mismatch(batch.tensor("again").segment()));
                add(batch, ids);
            }
            assertEquals(source.merged(), ids);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void augmentedImagesOfAStreamAreThoseOfAStore(boolean isOnDevice) {
        Random random = new Random(3);
        byte[][] images = Stream.generate(() -> new byte[6 * 5 * 3]).limit(20).toArray(byte[][]::new);
        for (byte[] image : images) {
            random.nextBytes(image);
        }
        Augment flip = Augment.images().horizontalFlip(0.5).randomCrop(4, 4);
        Dataset stored = Dataset.generate(20, List.of(new TensorSpec("image", DType.U8, 6, 5, 3)), "images",
                (sample, _, out) -> MemorySegment.copy(images[(int) sample], 0, out.tensor(0).segment(), JAVA_BYTE, 0,
                        images[(int) sample].length));
        StreamSource source = StreamSource.of("images", first -> Stream.of(images).skip(first)
                .map(MemorySegment::ofArray).iterator());
        try (StreamDataset stream = StreamDataset.builder(source).field("image", DType.U8, 6, 5, 3).open();
                DataLoader streamed = (isOnDevice
                        ? DataLoader.builder(flip.withParameters(stream, "image")).onDevice(flip.stage("image"))
                        : DataLoader.builder(flip.mapped(stream, "image"))).batchSize(5).seed(8).open();
                DataLoader loader = DataLoader.builder(flip.mapped(stored, "image")).batchSize(5).seed(8).endEpoch(1)
                        .open()) {
            while (loader.hasNext()) {
                try (Batch expected = loader.next(); Batch found = streamed.next()) {
                    assertEquals(-1, expected.tensor("image").segment().mismatch(found.tensor("image").segment()));
                }
            }
            assertFalse(streamed.hasNext());
        }
    }

    @Test
    void fieldsOfAStreamCanBeMapped() {
        var source = NumberSource.of(2, 10);
        try (StreamDataset stream = source.dataset().open(); DataLoader loader = DataLoader.builder(stream.map("id",
                new TensorSpec("id", DType.I64, 2), "plus one", (in, random, out) -> {
                    out.segment().set(JAVA_LONG_UNALIGNED, 0, in.getLong(0));
                    out.segment().set(JAVA_LONG_UNALIGNED, Long.BYTES, in.getLong(1) + 1);
                })).batchSize(4).workers(2).open()) {
            List<Long> ids = new ArrayList<>();
            loader.epoch().forEach(batch -> add(batch, ids));
            assertEquals(source.merged().stream().map(id -> id + 1).toList(), ids);
        }
    }
}
