// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import io.penstock.error.LibraryException;
import java.io.IOException;
import org.junit.jupiter.api.Assumptions;

/** Skips tests where FFmpeg is not installed; libraries that fail their test fail these tests. */
public final class Ffmpeg {

    private Ffmpeg() {
    }

    public static void assume() throws IOException {
        try {
            FFmpeg.require();
        } catch (LibraryException e) {
            Assumptions.abort(e.getMessage());
        }
    }
}
