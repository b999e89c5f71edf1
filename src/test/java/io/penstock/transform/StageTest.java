// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.HeapUse;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.transform.ImageTransform.Layout;
import io.penstock.transform.TokenStage.Output;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a loader is told of stages, and what it may rely on; {@link TransformTest} has the bytes. */
class StageTest {
    private static SlabLayout outputs(DeviceStage stage, TensorSpec... fields) {
        try (Device device = Device.host(); OpenStage open = stage.open(device, SlabLayout.of(fields))) {
            return open.outputs();
        }
    }

    private static void refused(String message, DeviceStage stage, TensorSpec... fields) {
        assertEquals(message,
                assertThrows(IllegalArgumentException.class, () -> outputs(stage, fields)).getMessage());
    }

    @Test
    void outputsAreNamedWithTheirGreatestShapes() {
        assertEquals(SlabLayout.of(new TensorSpec("input_ids", DType.I64, 32, 1024),
                        new TensorSpec("labels", DType.I64, 32, 1024)),
                outputs(TokenStage.of(DType.I64), new TensorSpec("tokens", DType.U16, 32, 1025)));
        assertEquals(List.of("labels", "document_ids"),
                outputs(TokenStage.of(DType.I32).outputs(Output.DOCUMENT_IDS, Output.LABELS),
                        new TensorSpec("tokens", DType.U32, 1, 2)).fields().stream().map(TensorSpec::name).toList());
        assertEquals(SlabLayout.of(new TensorSpec("image", DType.BF16, 8, 3, 40, 50)),
                outputs(ImageTransform.of(Layout.NHWC, 3, 40, 50).to(DType.BF16, Layout.NCHW).stage("image"),
                        new TensorSpec("image", DType.U8, 8, 40, 50, 3)));
    }

    /** Few long rows or many short ones: a slot is not sized for many long ones. */
    @Test
    void aCastOfAFieldWhoseBytesAreBoundedIsBoundedAlike() {
        SlabLayout fields = SlabLayout.of(new TensorSpec("input_ids", DType.U16, 100, 4096)).bounded(0, 2 * 8192);
        try (Device device = Device.host();
                OpenStage open = CastTransform.stage("input_ids", DType.I64).open(device, fields)) {
            assertEquals(SlabLayout.of(new TensorSpec("input_ids", DType.I64, 100, 4096)).bounded(0, 8 * 8192),
                    open.outputs());
        }
    }

    @Test
    void fieldsThatAStageDoesNotWorkOnAreRefused() {
        TensorSpec labels = new TensorSpec("labels", DType.I64, 4);
        refused("no field 'tokens', the batch has [labels]", TokenStage.of(DType.I64), labels);
        refused("no field 'tokens', the batch has [labels]", CastTransform.stage("tokens", DType.I64), labels);
        refused("found tokens: f32[4,9], expected integers [B, L + 1] with L of at least 1",
                TokenStage.of(DType.I64), new TensorSpec("tokens", DType.F32, 4, 9));
        ImageTransform images = ImageTransform.of(Layout.NCHW, 3, 4, 5);
        refused("found image: u8[8,4,5,3], expected image: u8[8,3,4,5]", images.stage("image"),
                new TensorSpec("image", DType.U8, 8, 4, 5, 3));
        assertThrows(IllegalArgumentException.class, () -> TokenStage.of(DType.U16));
    }

    @Test
    void windowsThatAreShorterInOneBatchAreRefusedThere() {
        SlabLayout fields = SlabLayout.of(new TensorSpec("tokens", DType.U16, 4, 9));
        try (Device device = Device.host(); DeviceStream stream = device.openStream("s");
                OpenStage stage = TokenStage.of(DType.I64).open(device, fields)) {
            var inputs = new DeviceFields(fields);
            var outputs = new DeviceFields(stage.outputs());
            inputs.begin(4);
            inputs.setDim(0, 1, 5);
            outputs.begin(4);
            assertEquals("tokens: u16[4,9]: dimension 1 is 5 in this batch, expected it to be the same in all",
                    assertThrows(IllegalArgumentException.class, () -> stage.enqueue(stream, inputs, outputs))
                            .getMessage());
        }
    }

    /** On batches that a loader gives as narrow as stored. */
    @Test
    void aStageWidensTheBatchesOfALoaderAsTheCollatorDoes() {
        DeviceStage stage = TokenStage.of(DType.I64);
        int batches = 0;
        try (var store = new MemoryTokenStore(DType.U16, 50 * 64 + 1); Device device = Device.host();
                DeviceStream stream = device.openStream("train");
                DataLoader narrow = DataLoader.builder(TokenWindows.of(store, 64)).collator(CausalLm.narrow())
                        .batchSize(8).shuffle(1).endEpoch(1).device(device).open();
                DataLoader wide = DataLoader.builder(TokenWindows.of(store, 64))
                        .collator(CausalLm.widened(DType.I64)).batchSize(8).shuffle(1).endEpoch(1).open();
                DeviceBuffer ids = device.allocate(8 * 64 * 8); DeviceBuffer labels = device.allocate(8 * 64 * 8)) {
            SlabLayout fields = SlabLayout.of(new TensorSpec("tokens", DType.U16, 8, 65));
            OpenStage open = stage.open(device, fields);
            var inputs = new DeviceFields(fields);
            var outputs = new DeviceFields(open.outputs());
            outputs.setAddress(0, ids.address());
            outputs.setAddress(1, labels.address());
            for (; wide.hasNext(); batches++) {
                try (Batch batch = narrow.next(stream); Batch expected = wide.next()) {
                    inputs.begin(batch.count());
                    inputs.setAddress(0, batch.address("tokens"));
                    inputs.setDim(0, 0, batch.count());
                    outputs.begin(batch.count());
                    open.enqueue(stream, inputs, outputs);
                    stream.synchronize();
                    check(expected.tensor("input_ids"), outputs, 0, ids);
                    check(expected.tensor("labels"), outputs, 1, labels);
                }
            }
            open.close();
        }
        assertEquals(7, batches);
    }

    private static void check(Tensor expected, DeviceFields outputs, int output, DeviceBuffer memory) {
        assertEquals(expected.dim(0), outputs.dim(output, 0));
        assertEquals(expected.dim(1), outputs.dim(output, 1));
        assertEquals(-1, expected.segment().mismatch(memory.segment().asSlice(0, expected.segment().byteSize())));
    }

    @Test
    void oneStageServesSeveralLoaders() {
        DeviceStage stage = CastTransform.stage("values", DType.I64);
        try (Device device = Device.host();
                OpenStage narrow = stage.open(device, SlabLayout.of(new TensorSpec("values", DType.U8, 4)));
                OpenStage wide = stage.open(device, SlabLayout.of(new TensorSpec("values", DType.I32, 7, 3)))) {
            assertEquals("[values: i64[4]]", narrow.outputs().fields().toString());
            assertEquals("[values: i64[7,3]]", wide.outputs().fields().toString());
        }
    }

    @Test
    void enqueueingAllocatesNothing() {
        SlabLayout fields = SlabLayout.of(
                new TensorSpec("tokens", DType.U16, 4, 9), new TensorSpec("image", DType.U8, 4, 3, 8, 8));
        List<DeviceStage> stages = List.of(TokenStage.of(DType.I64).outputs(Output.LABELS, Output.DOCUMENT_IDS),
                CastTransform.stage("tokens", DType.I64), ImageTransform.of(Layout.NCHW, 3, 8, 8).stage("image"));
        for (DeviceStage stage : stages) {
            try (Device device = Device.host(); DeviceStream stream = device.openStream("s");
                    DeviceBuffer memory = device.allocate(1 << 20); OpenStage open = stage.open(device, fields)) {
                var inputs = new DeviceFields(fields);
                var outputs = new DeviceFields(open.outputs());
                inputs.setAddress(0, memory.address());
                inputs.setAddress(1, memory.address() + 4096);
                for (int o = 0; o < open.outputs().fields().size(); o++) {
                    outputs.setAddress(o, memory.address() + 65536L * (o + 1));
                }
                long fewest = HeapUse.fewest(199, () -> {
                    for (int i = 0; i < 100; i++) {
                        inputs.begin(3);
                        inputs.setDim(0, 0, 3);
                        inputs.setDim(1, 0, 3);
                        outputs.begin(3);
                        open.enqueue(stream, inputs, outputs);
                    }
                    stream.synchronize();
                });
                assertTrue(fewest < 200, stage + ": " + fewest + " bytes in 100 batches");
            }
        }
    }

    @Test
    void fieldsHaveTheirGreatestShapesAgainWithEveryBatch() {
        var fields = new DeviceFields(
                SlabLayout.of(new TensorSpec("a", DType.U8, 4, 5), new TensorSpec("b", DType.U8)));
        fields.begin(3);
        fields.setDim(0, 0, 3);
        fields.setDim(0, 1, 0);
        assertEquals(0, fields.elements(0));
        assertEquals(1, fields.elements(1));
        fields.begin(2);
        assertEquals(2, fields.count());
        assertEquals(20, fields.elements(0));
        assertThrows(IllegalArgumentException.class, () -> fields.setDim(0, 1, 6));
        assertThrows(IllegalArgumentException.class, () -> fields.setDim(0, 0, -1));
    }
}
