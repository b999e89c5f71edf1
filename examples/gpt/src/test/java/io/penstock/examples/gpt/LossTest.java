// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class LossTest {

    @TempDir
    private Path folder;

    /** Not "about": the losses of a run are the same bits on every machine. */
    @Test
    void theRunOfTheReadmeComesToTheLossesThatItStates() throws IOException, InterruptedException {
        Corpus corpus = Corpus.tokenize(folder);
        Path out = folder.resolve("run");
        double validationLoss = new Train(Train.flags("--first", corpus.letters().toString(), "--second",
                corpus.books().toString(), "--out", out.toString())).run();
        List<String> log = Files.readAllLines(out.resolve("losses.csv"));
        assertEquals(300, log.size());
        assertTrue(Files.readString(Path.of("README.md")).contains("validation loss %.4f".formatted(validationLoss)),
                "validation loss " + validationLoss);
        assertEquals(2.2647, validationLoss, 5e-5);
    }
}
