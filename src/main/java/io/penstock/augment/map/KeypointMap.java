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
 * Moves keypoints as their image is moved, in binary64.
 *
 * @param geometry the steps
 * @param target what the numbers mean
 * @param output which of the two fields
 */
public record KeypointMap(Geometry geometry, Target.Keypoints target, Output output) implements SampleMap {

    private static final int BYTES = 2 * Float.BYTES;
    /** The numbers of a point here: x, y, and 1 as long as it is visible. */
    private static final int VALUES = 3;

    /** What is written. */
    public enum Output {
        COORDINATES, VISIBILITY
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        int count = Math.toIntExact(in.byteSize() / BYTES);
        AugmentMap.Workspace workspace = AugmentMap.workspace();
        double[] points = workspace.numbers(VALUES * count);
        double shift = target.coordinates() == Target.Coordinates.AREA ? 0 : 0.5;
        for (int i = 0; i < count; i++) {
            points[VALUES * i] = in.segment().get(F32, (long) i * BYTES) + shift;
            points[VALUES * i + 1] = in.segment().get(F32, (long) i * BYTES + Float.BYTES) + shift;
            points[VALUES * i + 2] = 1;
        }
        for (int s = 0; s < geometry.stages().size(); s++) {
            geometry.place(s, random, workspace);
            for (int at = 0; at < VALUES * count; at += VALUES) {
                move(points, at, workspace.placement);
            }
        }
        for (int i = 0; i < count; i++) {
            int at = VALUES * i;
            if (output == Output.VISIBILITY) {
                boolean isVisible = points[at + 2] > 0 && isInside(points, at, geometry.result().height(),
                        geometry.result().width());
                out.segment().set(JAVA_BYTE, i, (byte) (isVisible ? 1 : 0));
            } else {
                out.segment().set(F32, (long) i * BYTES, (float) (points[at] - shift));
                out.segment().set(F32, (long) i * BYTES + Float.BYTES, (float) (points[at + 1] - shift));
            }
        }
    }

    private static void move(double[] points, int at, Placement placement) {
        placement.move(points[at], points[at + 1]);
        points[at] = placement.x();
        points[at + 1] = placement.y();
        if (!isInside(points, at, placement.height(), placement.width())) {
            points[at + 2] = 0;
        }
    }

    private static boolean isInside(double[] points, int at, int height, int width) {
        return points[at] >= 0 && points[at] < width && points[at + 1] >= 0 && points[at + 1] < height;
    }

    @Override
    public boolean readsInPlace() {
        return true;
    }
}
