// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.augment.AugmentExperiments;
import io.penstock.device.Kernel;
import io.penstock.image.nvjpeg.FramedImages;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the kernels of pictures in the same way; no kernel of the sources may be missing in both lists. */
class AugmentKernelArgumentsTest extends KernelArgumentsTest {

    @Override
    List<Kernel> kernels() {
        return Stream.of(AugmentExperiments.KERNELS, List.of(FramedImages.WEIGH, FramedImages.RESULTS))
                .flatMap(List::stream).toList();
    }

    @Test
    void everyKernelOfTheSourcesHasALayoutOfItsStructsName() throws IOException {
        assertEquals(structs(), layouts(Stream.concat(KERNELS.stream(), kernels().stream()).toList()));
    }
}
