// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class FingerprintTest {

    private static final int BYTES = 128 << 20;
    private static final int SAMPLES = 4096;

    @TempDir
    Path folder;

    @Test
    @EnabledOnOs(OS.LINUX)
    void ofAColdFileReadsItsBlocksAndNotWhatIsAroundThem() throws IOException {
        Path path = folder.resolve("cold");
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(BYTES);
        }
        try (MappedFile file = MappedFile.open(path)) {
            file.advise(Advice.DONT_NEED, 0, BYTES);
            assumeTrue(file.residency(SAMPLES) == 0, "the file system keeps its pages in memory");
            String cold = new Fingerprint().add(file).hex();
            assertTrue(file.residency(SAMPLES) < 0.05, "in memory: " + file.residency(SAMPLES));
            assertEquals(cold, new Fingerprint().add(file.segment()).hex());
        }
    }
}
