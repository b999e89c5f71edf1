// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.map;

import io.penstock.augment.step.AugMix;
import io.penstock.augment.step.NamedStep;
import io.penstock.augment.value.Size;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The steps of a pipeline that move pixels, over images of one size.
 *
 * @param stages these steps, in order
 * @param result the size of the augmented images
 */
public record Geometry(List<Stage> stages, Size result) {

    /**
     * A step.
     *
     * @param named the step
     * @param height of its input
     * @param width of its input
     */
    record Stage(NamedStep named, int height, int width) {
    }

    /**
     * Returns the geometry of a pipeline.
     *
     * @throws IllegalArgumentException if a step moves pixels in more than one way
     */
    public static Geometry of(AugmentMap map) {
        List<Stage> stages = new ArrayList<>();
        Size size = map.size();
        for (NamedStep named : map.steps()) {
            if (named.step() instanceof AugMix) {
                throw new IllegalArgumentException(named.name()
                        + " mixes images that are moved differently, expected no mask, boxes or keypoints beside it");
            }
            if (named.step().isGeometric()) {
                stages.add(new Stage(named, size.height(), size.width()));
            }
            size = named.step().check(size, map.channels());
        }
        return new Geometry(List.copyOf(stages), size);
    }

    /** Draws the parameters of a step, and sets the workspace's placement to how it moves pixels. */
    public void place(int stage, RandomGenerator random, AugmentMap.Workspace workspace) {
        Stage at = stages.get(stage);
        at.named.draw(random, at.height, at.width, workspace.values);
        workspace.placement.begin(at.height, at.width);
        at.named.step().place(workspace.values, 0, workspace.placement);
    }
}
