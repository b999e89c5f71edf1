// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PoisonedSlab.Field;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.DocumentWindows;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import io.penstock.testing.FileTokenStore;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.NoTokens;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class CausalLmTest {

    @TempDir
    Path folder;

    /** Every integer dtype with every width that it may be given in. */
    static Stream<Arguments> dtypesAndWidths() {
        return Arrays.stream(DType.values()).filter(DType::isInteger).flatMap(dtype -> Stream.of(TokenWidth.values())
                .filter(width -> width == TokenWidth.STORE || dtype.byteSize() <= (width == TokenWidth.I32 ? 4 : 8))
                .map(width -> Arguments.of(dtype, width)));
    }

    /** The batch as a loop over its tokens has it. */
    private static List<Field> reference(MemoryTokenStore store, TokenWidth width, int length, long[] samples) {
        List<Long> windows = new ArrayList<>();
        List<Long> inputs = new ArrayList<>();
        List<Long> labels = new ArrayList<>();
        for (long sample : samples) {
            for (int t = 0; t <= length; t++) {
                long token = store.token(sample * length + t);
                windows.add(token);
                if (t < length) {
                    inputs.add(token);
                }
                if (t > 0) {
                    labels.add(token);
                }
            }
        }
        long rows = samples.length;
        return switch (width) {
            case STORE -> List.of(Field.of("tokens", store.dtype(), List.of(rows, length + 1L), windows));
            case I32 -> List.of(Field.of("input_ids", DType.I32, List.of(rows, (long) length), inputs),
                    Field.of("labels", DType.I32, List.of(rows, (long) length), labels));
            case I64 -> List.of(Field.of("input_ids", DType.I64, List.of(rows, (long) length), inputs),
                    Field.of("labels", DType.I64, List.of(rows, (long) length), labels));
        };
    }

    @ParameterizedTest
    @MethodSource("dtypesAndWidths")
    void aBatchIsWhatALoopOverItsTokensGives(DType dtype, TokenWidth width) throws IOException {
        var random = new SplittableRandom(dtype.ordinal());
        for (int length : new int[] {1, 2, 3, 64, 127}) {
            try (var model = new MemoryTokenStore(dtype, 20L * length + 1);
                    var file = new FileTokenStore(folder, model)) {
                for (TokenStore store : List.of(model, file)) {
                    Dataset dataset = TokenWindows.of(store, length);
                    for (ReadMode mode : ReadMode.values()) {
                        try (var in = new SampleReader(dataset, mode);
                                var slab = new PoisonedSlab(width.windows(), dataset, 7)) {
                            for (int rows : new int[] {7, 1, 5, 7}) {
                                slab.check(in, random.longs(rows, 0, 20).toArray(),
                                        samples -> reference(model, width, length, samples));
                            }
                        }
                    }
                }
            }
        }
    }

    @Test
    void theModelTokensHaveTheBitsThatWideningGetsWrong() {
        for (DType dtype : DType.values()) {
            if (dtype.isInteger()) {
                try (var model = new MemoryTokenStore(dtype, 100)) {
                    long topBit = 1L << 8 * dtype.byteSize() - 1;
                    long set = LongStream.range(0, 100).filter(p -> (model.token(p) & topBit) != 0)
                            .count();
                    assertTrue(set > 20 && set < 80, dtype + ": " + set + " of 100 with the top bit");
                }
            }
        }
    }

    @Test
    void narrowIsTheStoresWidth() {
        var dataset = TokenWindows.of(new NoTokens(0, 100), 4);
        assertEquals(CausalLm.narrow().layout(dataset, 3), CausalLm.narrow().layout(dataset, 3));
        assertEquals("[tokens: u8[3,5]]", CausalLm.narrow().layout(dataset, 3).fields().toString());
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void tokensThatDoNotFitAreRefused(DType dtype) {
        var dataset = new Fixed(dtype, 5);
        for (TokenWidth width : TokenWidth.values()) {
            DType wanted = width == TokenWidth.STORE ? dtype : DType.of(width.toString());
            boolean fits = dtype.isInteger() && dtype.byteSize() <= wanted.byteSize();
            for (Collator collator : List.of(width.windows(), width.padded(0))) {
                if (fits) {
                    assertEquals(wanted, collator.layout(dataset, 2).fields().getFirst().dtype());
                } else {
                    assertEquals("tokens stored as " + dtype + " cannot be converted to " + wanted,
                            assertThrows(IllegalArgumentException.class, () -> collator.layout(dataset, 2))
                                    .getMessage());
                }
            }
        }
    }

    @Test
    void datasetsThatAreNoWindowsAreRefused() {
        var tokens = new NoTokens(0, 100);
        String message = assertThrows(IllegalArgumentException.class,
                () -> CausalLm.narrow().layout(Documents.of(tokens), 2)).getMessage();
        assertEquals("token windows have one field of shape [length + 1], not [tokens: u8[*]]", message);
        assertThrows(IllegalArgumentException.class, () -> CausalLm.narrow().layout(new Fixed(DType.U16, 2, 3), 2));
        assertThrows(IllegalArgumentException.class, () -> CausalLm.narrow().layout(new Fixed(DType.U16), 2));
        assertEquals("a window of 1 token has no label, expected 2 tokens or more",
                assertThrows(IllegalArgumentException.class, () -> CausalLm.widened(DType.I64)
                        .layout(DocumentWindows.withoutLabels(tokens, 1, 1), 2)).getMessage());
    }

    @Test
    void windowsThatNoArrayHoldsAreCopiedButNotWidened() {
        long length = 1L << 31;
        var dataset = TokenWindows.of(new NoTokens(0, 10 * length), length);
        assertEquals(3 * (length + 1), CausalLm.narrow().layout(dataset, 3).fields().getFirst().byteSize());
        assertEquals("windows of 2147483649 tokens cannot be widened, expected at most 2147483639",
                assertThrows(IllegalArgumentException.class,
                        () -> CausalLm.widened(DType.I32).layout(dataset, 3)).getMessage());
    }
}
