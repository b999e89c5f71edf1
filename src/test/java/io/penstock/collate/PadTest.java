// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.collate.PoisonedSlab.Field;
import io.penstock.dataset.Documents;
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
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class PadTest {

    @TempDir
    Path folder;

    /** Documents 0 to 3 are empty, 4 to 11 have a few tokens, the others up to 700. */
    private static long[] starts(SplittableRandom random) {
        long[] starts = new long[41];
        for (int d = 0; d < 40; d++) {
            starts[d + 1] = starts[d] + (d < 4 ? 0 : d < 12 ? random.nextInt(5) : random.nextInt(700));
        }
        return starts;
    }

    private static List<Field> reference(MemoryTokenStore store, Pad pad, long[] samples) {
        DType dtype = pad.widened == null ? store.dtype() : pad.widened;
        List<Long> lengths = new ArrayList<>();
        long longest = 0;
        for (long sample : samples) {
            long tokens = store.documentStart(sample + 1) - store.documentStart(sample);
            lengths.add(Math.min(tokens, pad.maxLength));
            longest = Math.max(longest, lengths.getLast());
        }
        while (longest % pad.multipleOf != 0) {
            longest++;
        }
        List<Long> ids = new ArrayList<>();
        List<Long> mask = new ArrayList<>();
        for (int i = 0; i < samples.length; i++) {
            for (long t = 0; t < longest; t++) {
                boolean real = t < lengths.get(i);
                ids.add(real ? store.token(store.documentStart(samples[i]) + t) : pad.padValue);
                mask.add(real ? 1L : 0L);
            }
        }
        long rows = samples.length;
        return List.of(Field.of("input_ids", dtype, List.of(rows, longest), ids),
                Field.of("attention_mask", DType.BOOL, List.of(rows, longest), mask),
                Field.of("lengths", DType.I32, List.of(rows), lengths));
    }

    private void check(DType dtype, Pad pad, long seed) throws IOException {
        var random = new SplittableRandom(seed);
        try (var model = new MemoryTokenStore(dtype, starts(random));
                var file = new FileTokenStore(folder, model)) {
            for (TokenStore store : List.of(model, file)) {
                var dataset = Documents.of(store);
                for (ReadMode mode : ReadMode.values()) {
                    try (var in = new SampleReader(dataset, mode); var slab = new PoisonedSlab(pad, dataset, 6)) {
                        for (long[] samples : new long[][] {random.longs(6, 0, 40).toArray(),
                            random.longs(6, 4, 12).toArray(), {3}, {0, 1, 2, 3}, {20, 0, 5},
                            random.longs(6, 12, 40).toArray()}) {
                            slab.check(in, samples, batch -> reference(model, pad, batch));
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.penstock.collate.CausalLmTest#dtypesAndWidths")
    void aBatchIsWhatALoopOverItsTokensGives(DType dtype, TokenWidth width) throws IOException {
        check(dtype, width.padded(0x5A), 1);
        check(dtype, width.padded(3).toMultipleOf(8).cutTo(100), 2);
        if (dtype.isUnsigned() && width == TokenWidth.STORE) {
            check(dtype, width.padded(-1L >>> 64 - 8 * dtype.byteSize()).cutTo(9), 3);
        } else {
            check(dtype, width.padded(-100).cutTo(9), 3);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "64, 64", "64, 63", "64, 65", "7, 300", "1000, 699", "2147483647, 1"})
    void theLengthIsTheLongestCutToTheLimitAndRoundedUp(int multipleOf, long maxLength) throws IOException {
        if (multipleOf <= 1000) {
            check(DType.U16, Pad.toLongest(DType.I64, 50_256).toMultipleOf(multipleOf).cutTo(maxLength),
                    multipleOf + maxLength);
        }
        assertEquals(multipleOf, Pad.toLongest(0).toMultipleOf(multipleOf).cutTo(1)
                .layout(Documents.of(new NoTokens(0, 5)), 1).fields().getFirst().dim(1));
    }

    @ParameterizedTest
    @CsvSource({"U8, STORE, 0, 255", "I8, STORE, -128, 127", "U16, STORE, 0, 65535", "I16, STORE, -32768, 32767",
        "U32, STORE, 0, 4294967295", "I32, STORE, -2147483648, 2147483647", "U8, I32, -2147483648, 2147483647"})
    void aPadValueThatDoesNotFitIsRefused(DType dtype, TokenWidth width, long least, long greatest) {
        var dataset = new Fixed(dtype, 5);
        width.padded(least).layout(dataset, 1);
        width.padded(greatest).layout(dataset, 1);
        for (long value : new long[] {least - 1, greatest + 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertEquals("pad value " + value + " does not fit " + width.dtype(dtype),
                    assertThrows(IllegalArgumentException.class, () -> width.padded(value).layout(dataset, 1))
                            .getMessage());
        }
    }

    @Test
    void sixtyFourBitIdsTakeAnyPadValue() {
        for (DType dtype : new DType[] {DType.U64, DType.I64, DType.U32}) {
            Pad.toLongest(DType.I64, Long.MIN_VALUE).layout(new Fixed(dtype, 5), 1);
            Pad.toLongest(DType.I64, Long.MAX_VALUE).layout(new Fixed(dtype, 5), 1);
        }
    }

    @Test
    void samplesThatAreNoSequencesAndSettingsBelowOneAreRefused() {
        assertEquals("padding takes one field of shape [*], not [tokens: u16[2,3]]",
                assertThrows(IllegalArgumentException.class,
                        () -> Pad.toLongest(DType.I64, 0).layout(new Fixed(DType.U16, 2, 3), 1)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> Pad.toLongest(DType.I64, 0).toMultipleOf(0));
        assertThrows(IllegalArgumentException.class, () -> Pad.toLongest(DType.I64, 0).cutTo(0));
    }

    @Test
    void aSampleWhoseLengthDoesNotFitALengthIsRefusedUnlessItIsCut() {
        var dataset = Documents.of(new NoTokens(0, 1, 1L << 33));
        assertEquals("samples of up to 8589934591 tokens cannot be padded, expected at most 2147483639: cut them",
                assertThrows(IllegalArgumentException.class,
                        () -> Pad.toLongest(0).layout(dataset, 1)).getMessage());
        assertEquals(1000, Pad.toLongest(0).cutTo(1000).layout(dataset, 1).fields().getFirst()
                .dim(1));
    }
}
