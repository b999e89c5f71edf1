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
import java.util.List;

/** Casts one field, whatever its shape in each batch. */
record CastStage(String field, DType to) implements DeviceStage {
    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        int index = fields.indexOf(field);
        TensorSpec from = fields.fields().get(index);
        long mostBytes = fields.maxBytes().get(index) / from.dtype().byteSize() * to.byteSize();
        var layout = new SlabLayout(List.of(new TensorSpec(field, to, from.shape())), List.of(mostBytes));
        return new Field(index, new CastTransform(from.dtype(), to), layout);
    }

    private record Field(int index, CastTransform cast, SlabLayout outputs) implements OpenStage {
        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            int rank = outputs.fields().getFirst().rank();
            for (int d = 0; d < rank; d++) {
                out.setDim(0, d, in.dim(index, d));
            }
            cast.enqueue(stream, in.address(index), in.elements(index), out.address(0));
        }
    }
}
