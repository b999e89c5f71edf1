// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.collate.CausalLm;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceStream;
import io.penstock.device.EventWait;
import io.penstock.device.PinnedBuffer;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.TransferMode;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.transform.ImageTransform.Layout;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches that are taken on a stream, transformed there, and closed at once: as {@code docs/transforms.md} has it. */
class LoaderTransformTest {
    private static final int LENGTH = 1024;
    private static final int BATCH = 8;
    private static final long SEED = 42;

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = "AUTO", mode = Mode.EXCLUDE)
    void narrowBatchesWidenedOnTheDeviceAreTheBatchesWidenedByTheCollator(TransferMode mode) {
        try (Device device = Device.host()) {
            widensAsTheCollatorDoes(device, mode);
        }
    }

    static void widensAsTheCollatorDoes(Device device, TransferMode mode) {
        device.makeCurrent();
        try (MemoryTokenStore store = new MemoryTokenStore(DType.U16, 200 * LENGTH + 1);
                DeviceStream stream = device.openStream("train");
                PinnedBuffer result = device.allocatePinned((long) BATCH * LENGTH * Long.BYTES);
                DeviceBuffer ids = device.allocate((long) BATCH * LENGTH * Long.BYTES);
                DeviceBuffer labels = device.allocate((long) BATCH * LENGTH * Long.BYTES);
                DataLoader narrow = DataLoader.builder(TokenWindows.of(store, LENGTH)).collator(CausalLm.narrow())
                        .batchSize(BATCH).shuffle(1).endEpoch(2).workers(2).device(device).transfer(mode).open();
                DataLoader wide = DataLoader.builder(TokenWindows.of(store, LENGTH))
                        .collator(CausalLm.widened(TokenWidth.I64)).batchSize(BATCH).shuffle(1).endEpoch(2).open()) {
            var transform = new CausalLmTransform(DType.U16, DType.I64, LENGTH);
            while (narrow.hasNext()) {
                int count;
                try (Batch batch = narrow.next(stream)) {
                    count = batch.count();
                    transform.enqueue(stream, batch.address("tokens"), count, ids.address(), labels.address());
                }
                try (Batch batch = wide.next()) {
                    long bytes = (long) count * LENGTH * Long.BYTES;
                    stream.copyToHost(result, 0, ids, 0, bytes);
                    stream.synchronize();
                    assertEquals(-1, batch.tensor("input_ids").segment().mismatch(result.segment().asSlice(0, bytes)));
                    stream.copyToHost(result, 0, labels, 0, bytes);
                    stream.synchronize();
                    assertEquals(-1, batch.tensor("labels").segment().mismatch(result.segment().asSlice(0, bytes)));
                }
            }
            assertEquals(false, wide.hasNext());
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = "AUTO", mode = Mode.EXCLUDE)
    void aSamplesCropIsTheSameInWhateverBatchItComes(TransferMode mode) {
        Map<Long, byte[]> seen = new HashMap<>();
        for (int batchSize : new int[] {4, 7}) {
            cropped(batchSize, mode).forEach((sample, image) -> {
                byte[] before = seen.putIfAbsent(sample, image);
                if (before != null) {
                    assertArrayEquals(before, image, () -> "sample " + sample);
                }
            });
        }
        assertEquals(50, seen.size());
        assertEquals(50, seen.values().stream().map(Arrays::hashCode).distinct().count());
    }

    private static Map<Long, byte[]> cropped(int batchSize, TransferMode mode) {
        Map<Long, byte[]> images = new HashMap<>();
        ImageTransform transform = transform();
        var crop = new RandomCrop(40, 36, 32, 32, 0.5);
        var random = new KeyedRandom(SEED, 0);
        int imageBytes = (int) transform.targetImageBytes();
        try (MemoryTensorStore store = images();
                Device device = Device.host(); DeviceStream stream = device.openStream("train");
                PinnedBuffer parameters = device.allocatePinned((long) batchSize * RandomCrop.PARAMETER_BYTES);
                DeviceBuffer crops = device.allocate((long) batchSize * RandomCrop.PARAMETER_BYTES);
                DeviceEvent copied = device.openEvent(EventWait.BLOCK);
                DeviceBuffer pixels = device.allocate((long) batchSize * imageBytes);
                DataLoader loader = DataLoader.builder(TensorRows.of("image", store)).batchSize(batchSize)
                        .shuffle(SEED).endEpoch(1).device(device).transfer(mode).open()) {
            while (loader.hasNext()) {
                long[] samples;
                try (Batch batch = loader.next(stream)) {
                    copied.synchronize();                           // the parameters before are on the device
                    samples = new long[batch.count()];
                    for (int row = 0; row < samples.length; row++) {
                        samples[row] = batch.sample(row);
                        crop.draw(random, batch.position(row), parameters.segment(),
                                (long) row * RandomCrop.PARAMETER_BYTES);
                    }
                    stream.copyToDevice(crops, 0, parameters, 0, (long) samples.length * RandomCrop.PARAMETER_BYTES);
                    stream.record(copied);
                    transform.enqueue(stream, batch.address("image"), samples.length, crops.address(),
                            pixels.address());
                }
                stream.synchronize();
                for (int row = 0; row < samples.length; row++) {
                    images.put(samples[row], pixels.segment().asSlice((long) row * imageBytes, imageBytes)
                            .toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
        return images;
    }

    private static ImageTransform transform() {
        return ImageTransform.of(Layout.NHWC, 3, 40, 36).crop(32, 32)
                .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
                .to(DType.BF16, Layout.NCHW);
    }

    private static MemoryTensorStore images() {
        return new MemoryTensorStore(1, new TensorSpec("image", DType.U8, 50, 40, 36, 3));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void imagesTransformedInTheWorkersAreThoseOfTheStream(int workers) {
        Map<Long, byte[]> expected = cropped(7, TransferMode.COPY);
        var crop = new RandomCrop(40, 36, 32, 32, 0.5);
        int seen = 0;
        try (MemoryTensorStore store = images();
                DataLoader loader = DataLoader.builder(transform().mapped(TensorRows.of("image", store), "image", crop))
                        .batchSize(4).shuffle(SEED).endEpoch(1).workers(workers).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    assertEquals("bf16[" + batch.count() + ",3,32,32]", batch.tensor("image").toString());
                    for (int row = 0; row < batch.count(); row++, seen++) {
                        assertArrayEquals(expected.get(batch.sample(row)),
                                batch.tensor("image").row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                    }
                }
            }
        }
        assertEquals(50, seen);
    }

    @Test
    void withoutDrawsImagesAreCutFromTheMiddle() {
        ImageTransform transform = transform();
        long bytes = transform.targetImageBytes();
        try (MemoryTensorStore store = images(); Device device = Device.host();
                DeviceStream stream = device.openStream("images"); DeviceBuffer target = device.allocate(50 * bytes);
                SampleReader reader = new SampleReader(transform.mapped(TensorRows.of("image", store), "image"),
                        ReadMode.AUTO)) {
            transform.enqueue(stream, store.tensor(0).segment().address(), 50, 0, target.address());
            stream.synchronize();
            for (int sample = 0; sample < 50; sample++) {
                Span found = reader.locate(sample, 0);
                assertEquals(-1, target.segment().asSlice(sample * bytes, bytes).mismatch(found.slice()));
            }
        }
    }
}
