// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.media.sound.MelExperiments;
import java.util.List;

/** Spectrograms, held to what the engine's transforms are held to. */
class MelTransformTest extends TransformTest {

    @Override
    List<Experiment> experiments(long seed) {
        System.out.println("seed " + seed);
        return new MelExperiments(seed).all();
    }
}
