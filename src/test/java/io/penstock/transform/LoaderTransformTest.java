// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.TransferMode;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.transform.ImageTransform.Layout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

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
                        .collator(CausalLm.widened(DType.I64)).batchSize(BATCH).shuffle(1).endEpoch(2).open()) {
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

    private static ImageTransform transform() {
        return ImageTransform.of(Layout.NHWC, 3, 40, 36)
                .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
                .to(DType.BF16, Layout.NCHW);
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = "AUTO", mode = Mode.EXCLUDE)
    void imagesTransformedInTheWorkersAreThoseOfTheStream(TransferMode mode) {
        ImageTransform transform = transform();
        long bytes = transform.targetImageBytes();
        try (var store = new MemoryTensorStore(1, new TensorSpec("image", DType.U8, 50, 40, 36, 3));
                Device device = Device.host(); DeviceStream stream = device.openStream("train");
                DeviceBuffer target = device.allocate(7 * bytes);
                DataLoader plain = DataLoader.builder(TensorRows.of("image", store)).batchSize(7).shuffle(SEED)
                        .endEpoch(1).device(device).transfer(mode).open();
                DataLoader mapped = DataLoader.builder(transform.mapped(TensorRows.of("image", store), "image"))
                        .batchSize(7).shuffle(SEED).endEpoch(1).workers(2).open()) {
            while (mapped.hasNext()) {
                int count;
                try (Batch batch = plain.next(stream)) {
                    count = batch.count();
                    transform.enqueue(stream, batch.address("image"), count, target.address());
                }
                stream.synchronize();
                try (Batch batch = mapped.next()) {
                    assertEquals("bf16[" + count + ",3,40,36]", batch.tensor("image").toString());
                    assertEquals(-1, batch.tensor("image").segment()
                            .mismatch(target.segment().asSlice(0, count * bytes)));
                }
            }
            assertEquals(false, plain.hasNext());
        }
    }
}
