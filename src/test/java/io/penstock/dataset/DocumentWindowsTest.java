// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Span;
import io.penstock.store.TokenStore;
import io.penstock.testing.Fields;
import io.penstock.testing.NoTokens;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DocumentWindowsTest {

    /** Every window of every document, found by walking them. */
    private static List<Long> walk(long[] starts, long windowTokens, long stride) {
        List<Long> windows = new ArrayList<>();
        for (int d = 0; d + 1 < starts.length; d++) {
            windows.addAll(TokenWindowsTest.starts(starts[d], starts[d + 1], windowTokens, stride));
        }
        return windows;
    }

    private static void check(long[] starts, long length, long stride, boolean labels, Object about) {
        long windowTokens = labels ? length + 1 : length;
        var windows = labels ? DocumentWindows.of(new NoTokens(starts), length, stride)
                : DocumentWindows.withoutLabels(new NoTokens(starts), length, stride);
        List<Long> expected = walk(starts, windowTokens, stride);
        assertEquals(expected.size(), windows.size(), about::toString);
        assertEquals(expected, TokenWindowsTest.located(windows, windowTokens), about::toString);
        for (long outside : new long[] {-1, windows.size(), Long.MAX_VALUE}) {
            assertThrows(IndexOutOfBoundsException.class, () -> Fields.locate(windows, outside, 0, new Span()));
        }
    }

    /** Documents from runs of empty, short and long ones, so that whole blocks have no window. */
    private static long[] randomStarts(SplittableRandom random, int documents, int windowTokens) {
        long[] starts = new long[documents + 1];
        int run = 0;
        int kind = 0;
        for (int d = 0; d < documents; d++) {
            if (run-- == 0) {
                run = random.nextInt(random.nextBoolean() ? 5 : 400);
                kind = random.nextInt(4);
            }
            starts[d + 1] = starts[d] + switch (kind) {
                case 0 -> 0;
                case 1 -> random.nextInt(windowTokens);
                case 2 -> windowTokens + random.nextInt(3) - 1;
                default -> random.nextInt(5 * windowTokens);
            };
        }
        return starts;
    }

    @Test
    void windowsAreThoseThatAWalkOverTheDocumentsFinds() {
        for (int seed = 0; seed < 400; seed++) {
            var random = new SplittableRandom(seed);
            int length = random.nextInt(1, 12);
            boolean labels = random.nextBoolean();
            long[] starts = randomStarts(random, random.nextInt(1200), labels ? length + 1 : length);
            check(starts, length, random.nextInt(1, 2 * length + 1), labels, "seed " + seed);
        }
    }

    @Test
    void manyDocumentsAreFoundByTheirWindows() {
        var random = new SplittableRandom(7);
        check(randomStarts(random, 150_000, 9), 8, 5, true, "seed 7");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 126, 127, 128, 129, 255, 256, 257, 383, 384, 385})
    void theOneWindowIsFoundWhereverItsDocumentIs(int at) {
        long[] starts = new long[514];
        for (int d = 0; d + 1 < starts.length; d++) {
            starts[d + 1] = starts[d] + (d == at ? 4 : d % 4);
        }
        check(starts, 4, 1, false, "document " + at);
    }

    @Test
    void documentsOfExactlyAWindowGiveOneAndShorterOnesNone() {
        check(new long[] {0, 0, 0, 5, 9, 14, 14, 20, 24}, 4, 4, true, "5, 4, 5, 0, 6 and 4 tokens");
        check(new long[] {0}, 4, 4, true, "no document");
        check(new long[] {0, 0}, 1, 1, false, "an empty document");
        check(new long[] {0, 3, 6, 9}, 3, 3, true, "none holds a window");
        for (int documents : new int[] {127, 128, 129, 256}) {
            check(new long[documents + 1], 1, 1, false, documents + " empty documents");
        }
    }

    @Test
    void aWindowIsFoundInOneBlockHoweverManyDocumentsBeforeItHaveNone() {
        long[] starts = new long[100_000];
        starts[99_999] = 4;
        var asked = new AtomicLong();
        TokenStore counting = (TokenStore) Proxy.newProxyInstance(TokenStore.class.getClassLoader(),
                new Class<?>[] {TokenStore.class}, (_, method, arguments) -> {
                    asked.addAndGet(method.getName().equals("documentStart") ? 1 : 0);
                    return method.invoke(new NoTokens(starts), arguments);
                });
        var windows = DocumentWindows.withoutLabels(counting, 4, 1);
        asked.set(0);
        Fields.locate(windows, 0, 0, new Span());
        assertTrue(asked.get() <= 2 * 128 + 1, asked + " documents looked at");
    }

    @Test
    void positionsBeyond32BitsAreExact() {
        long big = 3L << 40;
        var windows = DocumentWindows.withoutLabels(new NoTokens(0, big, big, big + 7, 2 * big + 7), 1, 1);
        assertEquals(2 * big + 7, windows.size());
        Span span = new Span();
        for (long at : new long[] {0, big - 1, big, big + 6, big + 7, 2 * big + 6}) {
            Fields.locate(windows, at, 0, span);
            assertEquals(at, span.byteOffset());
        }
    }
}
