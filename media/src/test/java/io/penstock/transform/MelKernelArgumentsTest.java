// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.Kernel;
import io.penstock.media.sound.MelExperiments;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the kernels of sound in the same way; no kernel of the sources may be missing in all three lists. */
class MelKernelArgumentsTest extends KernelArgumentsTest {

    @Override
    List<Kernel> kernels() {
        return MelExperiments.KERNELS;
    }

    @Test
    void everyKernelOfTheSourcesHasALayoutOfItsStructsName() throws IOException {
        assertEquals(structs(), layouts(Stream.of(KERNELS, AugmentKernelArgumentsTest.OF_PICTURES, kernels())
                .flatMap(List::stream).toList()));
    }
}
