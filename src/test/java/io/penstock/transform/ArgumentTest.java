// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.dataset.TensorRows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.transform.ImageTransform.Layout;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What is known to be wrong when a transform is made or enqueued is refused then, in words. */
class ArgumentTest {
    private static final Device DEVICE = Device.host();
    private static final DeviceStream STREAM = DEVICE.openStream("s");

    @AfterAll
    static void close() {
        STREAM.close();
        DEVICE.close();
    }

    private static void refused(String message, Executable call) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
    }

    @Test
    void dtypesThatATransformDoesNotHave() {
        refused("tokens: f32, expected an integer dtype", () -> new CausalLmTransform(DType.F32, DType.I64, 4));
        refused("ids and labels: u16, expected one of [i32, i64]",
                () -> new CausalLmTransform(DType.U16, DType.U16, 4));
        refused("target: f64, expected one of [f32, f16, bf16]",
                () -> ImageTransform.of(Layout.NHWC, 3, 4, 4).to(DType.F64, Layout.NCHW));
    }

    @Test
    void addressesThatElementsCannotBeAt() {
        var transform = new CausalLmTransform(DType.U16, DType.I64, 4);
        refused("tokens: address 0", () -> transform.enqueue(STREAM, 0, 1, 8, 8));
        refused("tokens: address 0x101 is not a multiple of 2", () -> transform.enqueue(STREAM, 0x101, 1, 8, 8));
        refused("labels: address 0x104 is not a multiple of 8", () -> transform.enqueue(STREAM, 0x100, 1, 8, 0x104));
        refused("inputs: -1 x 4, expected at least 0 and at most 2^63 - 1",
                () -> transform.enqueue(STREAM, 0x100, -1, 8, 8));
    }

    @Test
    void sizesBeyondWhatOutputsCanCount() {
        var documents = new DocumentTransform(DType.U16, DType.I32, 1 << 20, 1 << 20, DocumentSeparator.endsWith(0));
        refused("tokens: 2048 x 1048576, expected at least 0 and at most 2^31 - 1",
                () -> documents.enqueue(STREAM, 0x100, 2048, 0x100, 0, 0));
        refused("tokens: 4611686018427387904 x 1048576, expected at least 0 and at most 2^31 - 1",
                () -> documents.enqueue(STREAM, 0x100, 1L << 62, 0x100, 0, 0));
    }

    @Test
    void imagesThatCannotBe() {
        refused("5 channels, expected 1 to 4", () -> ImageTransform.of(Layout.NHWC, 5, 4, 4));
        refused("channel 0: mean 0.0, standard deviation 0.0",
                () -> ImageTransform.of(Layout.NHWC, 1, 4, 4).normalize(new float[1], new float[1]));
        refused("3 means and 1 deviations for images of 1 channels",
                () -> ImageTransform.of(Layout.NHWC, 1, 4, 4).normalize(new float[3], new float[1]));
    }

    @Test
    void fieldsThatAreNotTheImages() {
        var transform = ImageTransform.of(Layout.NHWC, 3, 4, 5);
        try (var store = new MemoryTensorStore(1, new TensorSpec("image", DType.U8, 6, 3, 4, 5))) {
            TensorRows images = TensorRows.of("image", store);
            refused("found image: u8[3,4,5], expected image: u8[4,5,3]", () -> transform.mapped(images, "image"));
            refused("no field 'label', samples have [image]", () -> transform.mapped(images, "label"));
        }
    }

    @Test
    void anEmptyBatchEnqueuesNothing() {
        new CausalLmTransform(DType.U16, DType.I64, 4).enqueue(STREAM, 0, 0, 0, 0);
        new CastTransform(DType.U8, DType.F32).enqueue(STREAM, 0, 0, 0);
        assertEquals(true, STREAM.isIdle());
    }
}
