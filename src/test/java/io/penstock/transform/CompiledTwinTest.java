// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Device;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A twin that the JIT has compiled gives what it gave before. */
class CompiledTwinTest {

    /** The JIT's vectors round as its interpreter does: enough rounds for each loop to be compiled. */
    @Tag("slow")
    @Test
    void imagesAreTheSameOnceTheTwinIsCompiled() {
        List<Experiment> images = new ArrayList<>();
        for (long seed = 10; seed < 14; seed++) {
            images.addAll(new TensorExperiments(seed).largeImages());
        }
        for (int round = 0; round < 5; round++) {
            for (Experiment experiment : images) {
                try (Lab lab = new DeviceLab(Device.host())) {
                    experiment.verify(lab);
                }
            }
        }
    }
}
