// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.map;

import static io.penstock.memory.LittleEndian.F32;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.augment.step.Placement;
import io.penstock.augment.value.Target;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.Tensor;
import java.util.random.RandomGenerator;

/**
 * Moves boxes as their image is moved, in binary64.
 *
 * @param geometry the steps
 * @param target what the numbers mean, and which boxes are valid
 * @param output which of the two fields
 */
public record BoxMap(Geometry geometry, Target.Boxes target, Output output) implements SampleMap {

    private static final int NUMBERS = 4;
    /** The numbers of a box here: its two corners, and the share of it that was not cut off. */
    private static final int VALUES = 5;
    private static final int BYTES = NUMBERS * Float.BYTES;

    /** What is written. */
    public enum Output {
        COORDINATES, VALIDITY
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        int count = Math.toIntExact(in.byteSize() / BYTES);
        AugmentMap.Workspace workspace = AugmentMap.workspace();
        double[] boxes = workspace.numbers(VALUES * count);
        double shift = target.coordinates() == Target.Coordinates.AREA ? 0 : 0.5;
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < NUMBERS; k++) {
                boxes[VALUES * i + k] = in.segment().get(F32, (long) i * BYTES + (long) k * Float.BYTES) + shift;
            }
            boxes[VALUES * i + NUMBERS] = 1;
        }
        for (int s = 0; s < geometry.stages().size(); s++) {
            geometry.place(s, random, workspace);
            for (int at = 0; at < VALUES * count; at += VALUES) {
                move(boxes, at, workspace.placement);
            }
        }
        for (int i = 0; i < count; i++) {
            int at = VALUES * i;
            double area = area(boxes, at);
            boolean isValid = area > 0 && area >= target.minimumArea()
                    && boxes[at + NUMBERS] >= target.minimumVisible();
            if (output == Output.VALIDITY) {
                out.segment().set(JAVA_BYTE, i, (byte) (isValid ? 1 : 0));
                continue;
            }
            for (int k = 0; k < NUMBERS; k++) {
                out.segment().set(F32, (long) i * BYTES + (long) k * Float.BYTES,
                        isValid ? (float) (boxes[at + k] - shift) : 0);
            }
        }
    }

    /** Encloses the moved corners, and cuts the result at the image's edges. */
    public static void move(double[] boxes, int at, Placement placement) {
        double left = Double.POSITIVE_INFINITY;
        double top = Double.POSITIVE_INFINITY;
        double right = Double.NEGATIVE_INFINITY;
        double bottom = Double.NEGATIVE_INFINITY;
        for (int corner = 0; corner < 4; corner++) {
            placement.move(boxes[at + 2 * (corner & 1)], boxes[at + 1 + (corner & 2)]);
            left = Math.min(left, placement.x());
            right = Math.max(right, placement.x());
            top = Math.min(top, placement.y());
            bottom = Math.max(bottom, placement.y());
        }
        double whole = (right - left) * (bottom - top);
        boxes[at] = Math.clamp(left, 0.0, placement.width());
        boxes[at + 1] = Math.clamp(top, 0.0, placement.height());
        boxes[at + 2] = Math.clamp(right, 0.0, placement.width());
        boxes[at + 3] = Math.clamp(bottom, 0.0, placement.height());
        boxes[at + NUMBERS] *= whole > 0 ? area(boxes, at) / whole : 0;
    }

    private static double area(double[] boxes, int at) {
        return (boxes[at + 2] - boxes[at]) * (boxes[at + 3] - boxes[at + 1]);
    }

    @Override
    public boolean readsInPlace() {
        return true;
    }
}
