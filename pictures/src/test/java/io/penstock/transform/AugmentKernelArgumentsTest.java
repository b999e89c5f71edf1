// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.augment.AugmentExperiments;
import io.penstock.device.Kernel;
import io.penstock.image.nvjpeg.FramedImages;
import java.util.List;
import java.util.stream.Stream;

/** Checks the kernels of pictures in the same way. */
class AugmentKernelArgumentsTest extends KernelArgumentsTest {

    /** Those of pictures. */
    static final List<Kernel> OF_PICTURES = Stream.of(AugmentExperiments.KERNELS,
            List.of(FramedImages.WEIGH, FramedImages.RESULTS)).flatMap(List::stream).toList();

    @Override
    List<Kernel> kernels() {
        return OF_PICTURES;
    }
}
