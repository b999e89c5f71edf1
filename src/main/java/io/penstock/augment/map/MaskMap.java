// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.map;

import io.penstock.augment.pixels.Canvas;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.Tensor;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Moves a mask as its image is moved.
 *
 * @param geometry the steps
 * @param channels bytes of a pixel
 * @param outside the class outside the image
 */
public record MaskMap(Geometry geometry, int channels, int outside) implements SampleMap {

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        AugmentMap.Workspace workspace = AugmentMap.workspace();
        Canvas canvas = workspace.canvas;
        canvas.loadMask(in.segment(), (int) in.dim(0), (int) in.dim(1), channels, outside);
        List<Geometry.Stage> stages = geometry.stages();
        for (int i = 0; i < stages.size(); i++) {
            Geometry.Stage stage = stages.get(i);
            stage.named().draw(random, stage.height(), stage.width(), workspace.values);
            stage.named().step().apply(workspace.values, 0, canvas);
        }
        canvas.store(out.segment(), 0);
    }

    @Override
    public boolean readsInPlace() {
        return true;
    }
}
