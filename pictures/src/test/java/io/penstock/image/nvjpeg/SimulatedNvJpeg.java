// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.nvjpeg;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.image.reading.JpegLibrary;
import java.nio.file.Path;

/** nvJPEG in the simulated CUDA runtime, which decodes by libturbojpeg. */
public final class SimulatedNvJpeg {
    private SimulatedNvJpeg() {
    }

    /** Lets a JVM load nvJPEG, by libturbojpeg as this JVM finds it; a machine without that skips the test. */
    public static ChildJvm in(ChildJvm jvm, Path library) {
        assumeTrue(JpegLibrary.TURBOJPEG.isPresent(), "libturbojpeg is not there");
        String turboJpeg = System.getProperty("penstock.turbojpeg");
        if (turboJpeg != null) {
            jvm.option("-Dpenstock.turbojpeg=" + turboJpeg).variable("SIM_TURBOJPEG", turboJpeg);
        }
        return jvm.option("-Dpenstock.nvjpeg=" + library);
    }
}
