// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.dataset.Dataset;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.TokenBudget;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelTokensTest {

    private static final long SAMPLES = 40;
    /** A picture of one size, sound of two channels, ids. */
    private static final Dataset DATASET = Dataset.generate(SAMPLES, List.of(
            new TensorSpec("image", DType.U8, 4, 6, 3), new TensorSpec("sound", DType.F32, TensorSpec.VARIABLE, 2),
            new TensorSpec("ids", DType.I32, TensorSpec.VARIABLE)), 100, "three modalities", (sample, _, out) -> {
                out.tensor("image").segment().fill((byte) sample);
                out.tensor("sound", sound(sample)).segment().fill((byte) 0);
                out.tensor("ids", ids(sample)).segment().fill((byte) 0);
            });

    private static long sound(long sample) {
        return 7 * sample % 90;
    }

    private static long ids(long sample) {
        return 11 * sample % 13;
    }

    private static long tokens(long sample) {
        return 6 + (2 * sound(sample) + 9) / 10 + ids(sample);
    }

    private final ModelTokens tokens =
            ModelTokens.of(DATASET).each("image", 2 * 2 * 3).each("sound", 10).each("ids", 1);

    @Test
    void aSamplesTokensAreTheSumOfItsFields() {
        for (long sample = 0; sample < SAMPLES; sample++) {
            assertEquals(tokens(sample), tokens.applyAsLong(sample));
            assertEquals(6 + ids(sample), ModelTokens.of(DATASET).each("image", 12)
                    .each("ids", 1, ModelTokensTest::ids).applyAsLong(sample));
        }
        assertEquals("tokens of 12 values of image, 10 values of sound, 1 values of ids", tokens.toString());
    }

    /** Each batch holds as many samples as fit, and the next one would not have. */
    @Test
    void batchesAreFilledUpToTheBudget() throws Exception {
        TokenBudget budget = TokenBudget.sum(70);
        long next = 0;
        try (DataLoader loader = DataLoader.builder(DATASET).tokenBudget(budget, tokens)
                .collator(tokens.collator(budget)).endEpoch(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    long sum = 0;
                    for (int row = 0; row < batch.count(); row++, next++) {
                        assertEquals(next, batch.tensor("image").row(row).segment().get(
                                JAVA_BYTE, 0));
                        sum += tokens(next);
                    }
                    assertEquals(true, sum <= 70 && (next == SAMPLES || sum + tokens(next) > 70), sum + " tokens");
                }
            }
        }
        assertEquals(SAMPLES, next);
    }

    /** 70 tokens of sound have 700 values, 350 rows; of ids 70. Without it, 70 samples of the longest: 7,000. */
    @Test
    void aBatchHasRoomForTheBudget() {
        SlabLayout layout = tokens.collator(TokenBudget.sum(70)).layout(DATASET, 70);
        assertEquals(350, layout.fields().get(layout.indexOf("sound")).dim(0));
        assertEquals(70, layout.fields().get(layout.indexOf("ids")).dim(0));
        assertEquals(7000, Ragged.fields().layout(DATASET, 70).fields().get(2).dim(0));
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> tokens.each("ids", 2));
        assertThrows(IllegalArgumentException.class, () -> ModelTokens.of(DATASET).each("ids", 0));
        assertThrows(IllegalArgumentException.class, () -> ModelTokens.of(DATASET).each("video", 1));
        assertEquals("found a budget of at most 70 tokens with padding, 70 samples, expected one without padding",
                assertThrows(IllegalArgumentException.class, () -> tokens.collator(TokenBudget.padded(70)))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> Ragged.fields().room("ids", 0));
    }
}
