// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.Ending;
import io.penstock.augment.step.OpenPasses;
import io.penstock.augment.step.Passes;
import io.penstock.augment.step.Passes.Pass;
import io.penstock.device.Device;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.util.List;

/** Runs a pipeline on the device, over a field of images and that of their parameters. */
record AugmentStage(Augment augment, String field) implements DeviceStage {

    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        int images = fields.indexOf(field);
        TensorSpec found = fields.fields().get(images);
        if (found.dtype() != DType.U8 || found.rank() != 4) {
            throw new IllegalArgumentException("found " + found + ", expected u8[B,H,W,C]");
        }
        AugmentMap map = augment.over(new TensorSpec(field, found.dtype(), found.dim(1), found.dim(2), found.dim(3)));
        TensorSpec augmented = map.result(field);
        ParameterTable table = augment.table();
        TensorSpec row = table.field(field);
        TensorSpec expected = new TensorSpec(row.name(), DType.U8, found.dim(0), row.dim(0));
        if (fields.fields().stream().noneMatch(expected::equals)) {
            throw new IllegalArgumentException("found " + fields.fields() + ", expected also " + expected
                    + ", which Augment.withParameters adds");
        }
        Ending ending = augment.pipeline().ending();
        List<Pass> passes = Passes.of(map.steps(), table.offsets(), map.size());
        return new OpenPasses(device, fields, images, fields.indexOf(row.name()), passes, table.rowBytes(), augmented,
                ending.transform(augmented), ending.result(augmented));
    }

    /** Describes the stage: the pipeline and the field. */
    @Override
    public String toString() {
        return augment + " of " + field;
    }
}
