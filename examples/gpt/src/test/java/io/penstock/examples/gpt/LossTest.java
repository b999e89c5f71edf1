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

    /** As the README says of {@code run --quick}. */
    private static final double VALIDATION_LOSS = 3.9;

    @TempDir
    private Path folder;

    @Test
    void theQuickRunComesToTheLossThatTheReadmeStates() throws IOException, InterruptedException {
        Corpus corpus = Corpus.tokenize(folder);
        Path out = folder.resolve("run");
        double loss = new Train(Train.flags("--first", corpus.letters().toString(), "--second",
                corpus.books().toString(), "--out", out.toString(), "--steps", "150", "--batch", "8", "--context",
                "64", "--layers", "2", "--heads", "2", "--width", "64", "--rate", "0.005")).run();
        List<String> log = Files.readAllLines(out.resolve("losses.csv"));
        assertEquals(150, log.size());
        assertTrue(loss < VALIDATION_LOSS, "validation loss " + loss);
        assertTrue(Files.exists(out.resolve("diagnosis/final_summary.txt")));
    }
}
