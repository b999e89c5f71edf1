// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.Fields;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.NoTokens;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenWindowsTest {

    /** Where windows start in a run of tokens, found by walking it. */
    static List<Long> starts(long first, long end, long windowTokens, long stride) {
        List<Long> starts = new ArrayList<>();
        for (long start = first; start + windowTokens <= end; start += stride) {
            starts.add(start);
        }
        return starts;
    }

    /** Where a dataset of windows over {@link NoTokens} says that they start; all must have the same length. */
    static List<Long> located(Dataset windows, long windowTokens) {
        Span span = new Span();
        return LongStream.range(0, windows.size()).map(sample -> {
            Fields.locate(windows, sample, 0, span);
            assertEquals(windowTokens, span.byteSize());
            return span.byteOffset();
        }).boxed().toList();
    }

    @Test
    void windowsAreThoseThatAWalkOverTheTokensFinds() {
        for (long tokens = 0; tokens <= 24; tokens++) {
            for (long length = 1; length <= 9; length++) {
                for (long stride = 1; stride <= 9; stride++) {
                    for (boolean labels : new boolean[] {false, true}) {
                        var windows = labels ? TokenWindows.of(new NoTokens(0, tokens), length, stride)
                                : TokenWindows.withoutLabels(new NoTokens(0, tokens), length, stride);
                        long windowTokens = labels ? length + 1 : length;
                        assertEquals(starts(0, tokens, windowTokens, stride), located(windows, windowTokens),
                                () -> windows.fingerprint());
                        assertEquals(List.of(new TensorSpec("tokens", DType.U8, windowTokens)), windows.fields());
                        assertEquals(windowTokens, windows.maxLength(0));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1024, 0", "1025, 1", "2048, 1", "2049, 2", "2050, 2"})
    void theLastWindowNeedsItsLastLabel(long tokens, long windows) {
        assertEquals(windows, TokenWindows.of(new NoTokens(0, tokens), 1024).size());
    }

    @Test
    void aWindowRunsAcrossDocuments() {
        assertEquals(List.of(0L, 4L), located(TokenWindows.of(new NoTokens(0, 3, 3, 9), 4), 5));
    }

    @Test
    void aWindowHoldsTheStoresTokens() {
        try (var store = new MemoryTokenStore(DType.U16, 100)) {
            Span span = new Span();
            Fields.locate(TokenWindows.of(store, 10), 7, 0, span);
            for (int t = 0; t <= 10; t++) {
                assertEquals(store.token(70 + t), span.segment().get(ValueLayout.JAVA_CHAR_UNALIGNED,
                        span.byteOffset() + 2 * t));
            }
        }
    }

    @Test
    void positionsBeyond32BitsAreExact() {
        long tokens = (1L << 62) + 5;
        Span span = new Span();
        var every = TokenWindows.of(new NoTokens(0, tokens), 1, 1);
        assertEquals(tokens - 1, every.size());
        Fields.locate(every, tokens - 2, 0, span);
        assertEquals(tokens - 2, span.byteOffset());
        long length = 3L << 31;
        var long3 = TokenWindows.of(new NoTokens(0, 10 * length), length);
        assertEquals(9, long3.size());
        Fields.locate(long3, 8, 0, span);
        assertEquals(8 * length, span.byteOffset());
        assertEquals(length + 1, span.byteSize());
        assertEquals(0, TokenWindows.of(new NoTokens(0, tokens), Long.MAX_VALUE - 1).size());
    }

    @Test
    void aWindowThatIsNotThereIsRefused() {
        var windows = TokenWindows.of(new NoTokens(0, 100), 10);
        assertEquals("window 9 of 9", assertThrows(IndexOutOfBoundsException.class,
                () -> Fields.locate(windows, 9, 0, new Span())).getMessage());
        assertThrows(IndexOutOfBoundsException.class, () -> Fields.locate(windows, -1, 0, new Span()));
        assertThrows(IndexOutOfBoundsException.class,
                () -> Fields.locate(TokenWindows.of(new NoTokens(0, 10), 10), 0, 0, new Span()));
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "-1, 1", "1, 0", "1, -5", "9223372036854775807, 1"})
    void lengthsAndStridesThatAreNoneAreRefused(long length, long stride) {
        String message = assertThrows(IllegalArgumentException.class,
                () -> TokenWindows.of(new NoTokens(0, 10), length, stride)).getMessage();
        assertEquals("windows of " + length + " tokens every " + stride
                + ", expected 1 to 2^63 - 2 tokens, and 1 or more from start to start", message);
        assertThrows(IllegalArgumentException.class,
                () -> DocumentWindows.of(new NoTokens(0, 10), length, stride));
    }

    @Test
    void aFingerprintTellsEverySettingApart() {
        Set<String> prints = new HashSet<>();
        List<Dataset> datasets = List.of(TokenWindows.of(new NoTokens(0, 50), 4),
                TokenWindows.of(new NoTokens(0, 51), 4), TokenWindows.of(new NoTokens(0, 50), 5),
                TokenWindows.of(new NoTokens(0, 50), 4, 5), TokenWindows.withoutLabels(new NoTokens(0, 50), 4, 4),
                DocumentWindows.of(new NoTokens(0, 50), 4, 4), Documents.of(new NoTokens(0, 50)),
                Documents.of(new NoTokens(0, 50), 5));
        datasets.forEach(dataset -> prints.add(dataset.fingerprint()));
        assertEquals(datasets.size(), prints.size(), prints.toString());
    }
}
