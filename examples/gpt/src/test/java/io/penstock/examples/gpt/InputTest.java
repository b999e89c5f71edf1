// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class InputTest {

    private static final int CONTEXT = 64;

    @TempDir
    static Path folder;
    private static Corpus corpus;

    @BeforeAll
    static void tokenize() throws IOException, InterruptedException {
        corpus = Corpus.tokenize(folder);
    }

    private static Input open(Input.Form form) throws IOException {
        return Input.open(corpus.letters(), corpus.books(), CONTEXT, form);
    }

    @ParameterizedTest
    @EnumSource(names = "PLAIN", mode = EnumSource.Mode.EXCLUDE)
    void validationHasEveryHeldOutSequenceOnceAndTrainingHasTheOthers(Input.Form form) throws IOException {
        try (Device host = Device.host();
                Input input = open(form);
                DataLoader training = input.training(7, new double[]{0.5, 0.5}, 3, null, host);
                DataLoader validation = input.validation(7, host)) {
            Map<Long, Integer> evaluated = new HashMap<>();
            Set<Long> trained = new HashSet<>();
            for (Batch batch : validation.epoch(0)) {
                try (batch) {
                    assertEquals(batch.count(), batch.valid());
                    for (int row = 0; row < batch.valid(); row++) {
                        evaluated.merge(batch.sample(row), 1, Integer::sum);
                    }
                }
            }
            for (int epoch = 0; epoch < 3; epoch++) {
                for (Batch batch : training.epoch(epoch)) {
                    try (batch) {
                        for (int row = 0; row < batch.valid(); row++) {
                            trained.add(batch.sample(row));
                        }
                    }
                }
            }
            assertTrue(evaluated.values().stream().allMatch(times -> times == 1), evaluated::toString);
            assertTrue(trained.stream().noneMatch(evaluated::containsKey));
            long sequences = trained.size() + evaluated.size();
            assertEquals(sequences / 10, evaluated.size());
            for (long sequence = 0; sequence < sequences; sequence++) {
                assertTrue(trained.contains(sequence) || evaluated.containsKey(sequence), "sequence " + sequence);
            }
        }
    }

    /** Letters begin with a place and a date and have less text than books, so their sequences come first. */
    @Test
    void sequencesAreDrawnFromBothStoresInTheGivenProportion() throws IOException {
        try (Device host = Device.host();
                Input input = open(Input.Form.PACKED);
                DataLoader all = input.training(1, new double[]{1, 0}, 3, null, host);
                DataLoader mixed = input.training(10, new double[]{0.7, 0.3}, 3, null, host)) {
            Set<Long> letters = new HashSet<>();
            for (Batch batch : all.epoch(0)) {
                try (batch) {
                    letters.add(batch.sample(0));
                }
            }
            for (int step = 0; step < 20; step++) {
                try (Batch batch = mixed.next()) {
                    int ofLetters = 0;
                    for (int row = 0; row < batch.count(); row++) {
                        ofLetters += letters.contains(batch.sample(row)) ? 1 : 0;
                    }
                    assertEquals(7, ofLetters);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void tokensAreNumberedDenselyAndPositionsRestartWithDocuments(Input.Form form) throws IOException {
        try (Device host = Device.host();
                Input input = open(form);
                DataLoader training = input.training(16, new double[]{0.7, 0.3}, 3, null, host)) {
            Vocabulary vocabulary = input.vocabulary();
            assertTrue(vocabulary.size() > 500 && vocabulary.size() < 5000, "" + vocabulary.size());
            int endOfText = vocabulary.number(50_256);
            HostTokens tokens = new HostTokens(16, CONTEXT, vocabulary);
            int restarts = 0;
            for (int step = 0; step < 20; step++) {
                try (Batch batch = training.next()) {
                    tokens.read(batch);
                }
                assertEquals(16 * CONTEXT, tokens.rows);
                for (int row = 0; row < tokens.rows; row++) {
                    boolean isLast = (row + 1) % CONTEXT == 0;
                    if (tokens.ids[row] == endOfText) {
                        assertEquals(TokenBatch.IGNORED, tokens.labels[row]);
                        if (!isLast) {
                            assertEquals(0, tokens.positions[row + 1]);
                            restarts++;
                        }
                    } else if (!isLast && tokens.labels[row] != TokenBatch.IGNORED) {
                        assertEquals(tokens.ids[row + 1], tokens.labels[row]);
                        assertEquals(tokens.positions[row] + 1, tokens.positions[row + 1]);
                    }
                }
            }
            assertTrue(restarts > 20, "" + restarts);
        }
    }
}
