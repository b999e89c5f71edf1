// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.OpenStage;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Runs an {@link ImageTransform} on a field; {@code crops} names the crop field, null means center crops. */
record ImageStage(ImageTransform transform, String field, @Nullable String crops) implements DeviceStage {
    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        int images = fields.indexOf(field);
        TensorSpec found = fields.fields().get(images);
        long batch = found.rank() > 0 ? found.dim(0) : 0;
        require(found, new TensorSpec(field, DType.U8, batched(batch, transform.sourceShape())));
        int parameters = -1;
        if (crops != null) {
            parameters = fields.indexOf(crops);
            require(fields.fields().get(parameters), new TensorSpec(crops, DType.I32, batch, 4));
        }
        return new Images(images, parameters, transform.copy(), SlabLayout.of(
                new TensorSpec(field, transform.targetType(), batched(batch, transform.targetShape()))));
    }

    private static long[] batched(long batch, long[] shape) {
        return LongStream.concat(LongStream.of(batch), LongStream.of(shape)).toArray();
    }

    private static void require(TensorSpec found, TensorSpec expected) {
        if (!found.equals(expected)) {
            throw new IllegalArgumentException("found " + found + ", expected " + expected);
        }
    }

    private record Images(int images, int crops, ImageTransform transform, SlabLayout outputs) implements OpenStage {
        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            Arguments.sameInAllBatches(in, images, 1);
            long batch = in.dim(images, 0);
            out.setDim(0, 0, batch);
            transform.enqueue(stream, in.address(images), batch, crops < 0 ? 0 : in.address(crops), out.address(0));
        }
    }
}
