// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainTest {

    @TempDir
    private Path folder;

    private Flags flags(Corpus corpus, String... more) {
        List<String> all = new ArrayList<>(List.of("--first", corpus.letters().toString(), "--second",
                corpus.books().toString(), "--out", folder.resolve("run").toString(), "--steps", "6", "--batch", "4",
                "--context", "32", "--layers", "1", "--heads", "1", "--width", "32", "--save-every", "4",
                "--validate-every", "3"));
        all.addAll(List.of(more));
        return Train.flags(all.toArray(String[]::new));
    }

    @Test
    void aRunLogsEveryStepAndGoesOnOnlyWithItsOwnOptions() throws IOException, InterruptedException {
        Corpus corpus = Corpus.tokenize(folder);
        double loss = new Train(flags(corpus)).run();
        List<String> log = Files.readAllLines(folder.resolve("run/losses.csv"));
        assertEquals(6, log.size());
        assertTrue(log.get(5).endsWith("," + loss), log.get(5));
        assertEquals(3, log.get(2).split(",").length);
        assertEquals(2, log.get(3).split(",").length);
        assertTrue(Files.exists(folder.resolve("run/diagnosis/final_summary.json")));

        String again = assertThrows(IllegalArgumentException.class, () -> new Train(flags(corpus)).run()).getMessage();
        assertTrue(again.contains("--resume"), again);
        String other = assertThrows(IllegalArgumentException.class,
                () -> new Train(flags(corpus, "--resume", "--rate", "0.1")).run()).getMessage();
        assertTrue(other.startsWith("--rate: found 0.1, expected 0.002 as in "), other);
        new Train(flags(corpus, "--resume", "--resume")).run();
        assertEquals(log, Files.readAllLines(folder.resolve("run/losses.csv")));

        Sample.main(new String[]{"--out", folder.resolve("run").toString(), "--tokens", "5"});
    }

    @Test
    void mistakesOnTheCommandLineAreNamed() {
        assertEquals("option --stepz, expected one of [--first, --second, --weights, --out, --resume, --device,"
                + " --input, --steps, --batch, --context, --layers, --heads, --width, --rate, --warmup, --seed,"
                + " --threads, --print-every, --validate-every, --save-every, --metrics-port,"
                + " --ledger, --keep-checkpoints]",
                message("--stepz", "3"));
        assertEquals("--steps needs a value", message("--steps"));
        assertEquals("--steps: found many, expected a number",
                assertThrows(IllegalArgumentException.class, () -> Train.flags("--steps", "many").whole("--steps"))
                        .getMessage());
        assertEquals("--context: found 40, expected a multiple of 32",
                assertThrows(IllegalArgumentException.class, () -> new Shape(64, 40, 1, 1, 32)).getMessage());
    }

    @Test
    void aDeviceOrInputThatThereIsNotIsNamed() {
        assertEquals("--device: found gpu, expected cpu, cuda or cuda:N", assertThrows(IllegalArgumentException.class,
                () -> new Train(Train.flags("--out", folder.toString(), "--device", "gpu")).run()).getMessage());
        assertEquals("--input: found files, expected one of [packed, windows, plain]",
                assertThrows(IllegalArgumentException.class, () -> new Train(Train.flags("--out", folder.toString(),
                        "--input", "files")).run()).getMessage());
    }

    private static String message(String... args) {
        return assertThrows(IllegalArgumentException.class, () -> Train.flags(args)).getMessage();
    }
}
