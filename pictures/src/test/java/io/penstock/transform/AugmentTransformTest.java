// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.augment.AugmentExperiments;
import java.util.List;

/** Pipelines of pictures, held to what the engine's transforms are held to. */
class AugmentTransformTest extends TransformTest {

    @Override
    List<Experiment> experiments(long seed) {
        System.out.println("seed " + seed);
        return new AugmentExperiments(seed).all();
    }
}
