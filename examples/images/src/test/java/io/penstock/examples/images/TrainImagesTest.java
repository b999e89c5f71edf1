// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.images;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainImagesTest {

    @Test
    void theNetLearnsToTellDrawingsApartAndResumes(@TempDir Path folder) throws Exception {
        double accuracy = new TrainImages(folder, 6).run();
        assertTrue(accuracy > 0.9, "accuracy " + accuracy);
        // All epochs are done: it only loads and evaluates.
        assertEquals(accuracy, new TrainImages(folder, 6).run());
    }
}
