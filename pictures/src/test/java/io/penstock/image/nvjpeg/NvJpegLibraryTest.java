// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.nvjpeg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import io.penstock.device.DeviceUnavailableException;
import org.junit.jupiter.api.Test;

/** The true library, where this machine has one or {@code -Dpenstock.nvjpeg} names it; it needs no GPU for this. */
class NvJpegLibraryTest {

    private static NvJpegLibrary library() {
        try {
            return NvJpegLibrary.load();
        } catch (DeviceUnavailableException e) {
            return abort(e.getMessage());
        }
    }

    @Test
    void itHasEveryFunctionAndTellsItsVersion() {
        assertTrue(library().version().matches("13\\.\\d+\\.\\d+"), library().version());
    }

    @Test
    void anImageIsFourAddressesAndFourPitches() {
        assertEquals(64, NvJpegLibrary.IMAGE.byteSize());
        assertEquals(32, NvJpegLibrary.PITCH);
    }

    @Test
    void statusesHaveTheirNames() {
        assertEquals("NVJPEG_STATUS_BAD_JPEG", NvJpegLibrary.name(3));
        assertEquals("NVJPEG_STATUS_INCOMPLETE_BITSTREAM", NvJpegLibrary.name(10));
        assertEquals("an unknown nvjpegStatus_t", NvJpegLibrary.name(11));
    }
}
