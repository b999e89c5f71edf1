// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A stage as a loader runs it, on one batch of given shapes: opened once for a lab, enqueued as often as asked. Inputs
 * are found under their names, outputs under theirs behind {@link #OUT}.
 */
public final class StageWork implements Experiment.Work {
    public static final String OUT = "out ";

    private final DeviceStage stage;
    private final SlabLayout layout;
    private final int count;
    private final Map<String, long[]> shapes = new LinkedHashMap<>();
    private final Map<String, long[]> expected = new LinkedHashMap<>();

    private Lab lab;
    private OpenStage open;
    private DeviceFields inputs;
    private DeviceFields outputs;

    public StageWork(DeviceStage stage, int count, TensorSpec... fields) {
        this.stage = stage;
        this.count = count;
        this.layout = SlabLayout.of(fields);
    }

    /** A field of other than its greatest shape in this batch. */
    public StageWork shape(String field, long... shape) {
        shapes.put(field, shape);
        return this;
    }

    /** The shape that the stage must set. */
    public StageWork expect(String output, long... shape) {
        expected.put(output, shape);
        return this;
    }

    @Override
    public void close() {
        if (open != null) {
            open.close();
            open = null;
            lab = null;
        }
    }

    @Override
    public void enqueue(Lab where, Map<String, Long> addresses) {
        if (lab != where) {
            lab = where;
            open = stage.open(lab.device(), layout);
            inputs = new DeviceFields(layout);
            outputs = new DeviceFields(open.outputs());
        }
        inputs.begin(count);
        for (TensorSpec field : layout.fields()) {
            int f = layout.indexOf(field.name());
            inputs.setAddress(f, addresses.get(field.name()));
            long[] shape = shapes.getOrDefault(field.name(), field.shape());
            for (int d = 0; d < shape.length; d++) {
                inputs.setDim(f, d, shape[d]);
            }
        }
        outputs.begin(count);
        for (TensorSpec output : open.outputs().fields()) {
            outputs.setAddress(open.outputs().indexOf(output.name()), addresses.get(OUT + output.name()));
        }
        open.enqueue(lab.stream(), inputs, outputs);
        expected.forEach((name, shape) -> {
            for (int d = 0; d < shape.length; d++) {
                assertEquals(shape[d], outputs.dim(open.outputs().indexOf(name), d), stage + ": " + name);
            }
        });
    }
}
