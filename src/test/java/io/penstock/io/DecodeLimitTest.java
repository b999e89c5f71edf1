// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.LimitException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DecodeLimitTest {

    private static final Path FILE = Path.of("some.zst");

    @Test
    void theMostIsTheRatioOrTheFreePartAndNeverMoreThanTheSize() {
        DecodeLimit limit = new DecodeLimit(10_000, 100, 500);
        assertEquals(500, limit.of(0));
        assertEquals(500, limit.of(5));
        assertEquals(600, limit.of(6));
        assertEquals(10_000, limit.of(100));
        assertEquals(10_000, limit.of(Long.MAX_VALUE));
        assertEquals(300, limit.withMaxBytes(300).of(5));
        assertEquals(5000, limit.withMaxRatio(1000).of(5));
        assertThrows(IllegalArgumentException.class, () -> limit.withMaxBytes(0));
        assertThrows(IllegalArgumentException.class, () -> limit.withMaxRatio(0));
    }

    @Test
    void deflateNeverReachesTheDefaults() {
        for (long stored : new long[] {1, 1000, 1L << 20, 1L << 30}) {
            assertTrue(DecodeLimit.DEFAULT.of(stored) >= 1032 * stored);
            assertTrue(DecodeLimit.TEXT.of(stored) >= 1032 * stored);
        }
    }

    @Test
    void theMessageSaysWhatWasFoundAndWhatRaisesTheLimit() {
        DecodeLimit limit = new DecodeLimit(10_000, 100, 500);
        assertEquals("some.zst: found 7 bytes that decode to 701, expected at most 700, the greater of 500 and 100"
                + " times the file's size (--max-ratio raises this limit)",
                assertThrows(LimitException.class, () -> limit.check(FILE, 7, 701)).getMessage());
        assertEquals("some.zst: found 700 bytes that decode to 10001, expected at most 10000 (--max-decoded raises"
                + " this limit)",
                assertThrows(LimitException.class, () -> limit.check(FILE, 700, 10_001)).getMessage());
    }

    @Test
    void aBudgetIsTakenByManyThreadsToTheLastByteAndNotBeyond() throws InterruptedException {
        DecodeLimit.Budget budget = new DecodeLimit(100_000, 1, 0).budget(FILE, 1 << 20);
        AtomicLong taken = new AtomicLong();
        CountDownLatch begin = new CountDownLatch(1);
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = Thread.ofPlatform().start(() -> {
                try {
                    begin.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                for (int i = 0; i < 50_000; i++) {
                    taken.addAndGet(budget.tryTake(1) ? 1 : 0);
                }
            });
        }
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(100_000, taken.get());
        budget.giveBack(10);
        assertFalse(budget.tryTake(11));
        assertFalse(budget.tryTake(Long.MAX_VALUE));
        assertTrue(budget.tryTake(10));
    }

    @Test
    void aStreamEndsWhereItsBudgetDoes() throws IOException {
        DecodeLimit limit = new DecodeLimit(100, 1, 0);
        try (InputStream exact = limit.budget(FILE, 1000).count(new ByteArrayInputStream(new byte[100]))) {
            assertEquals(100, exact.readAllBytes().length);
        }
        try (InputStream more = limit.budget(FILE, 1000).count(new ByteArrayInputStream(new byte[101]))) {
            assertThrows(LimitException.class, more::readAllBytes);
        }
        try (InputStream single = limit.budget(FILE, 1000).count(new ByteArrayInputStream(new byte[101]))) {
            assertEquals(100, single.skip(100));
            assertThrows(LimitException.class, single::read);
        }
    }
}
