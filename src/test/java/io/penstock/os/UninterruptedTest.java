// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UninterruptedTest {

    @Test
    void anInterruptDuringAWaitIsToldAndNoLongerSet() {
        var monitor = new Object();
        Thread.currentThread().interrupt();
        synchronized (monitor) {
            assertTrue(Uninterrupted.await(monitor));
        }
        assertFalse(Thread.interrupted());
    }

    @Test
    void anInterruptIsSetAgainOnlyIfThereWasOne() {
        Uninterrupted.restore(false);
        assertFalse(Thread.interrupted());
        Uninterrupted.restore(true);
        assertTrue(Thread.interrupted());
    }

    @Test
    void aJoinWaitsForAllThreadsInSpiteOfAnInterruptWhichIsSetAgain() {
        var goOn = new CountDownLatch(1);
        var ended = new AtomicInteger();
        Runnable work = () -> {
            try {
                goOn.await();
                ended.incrementAndGet();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        List<Thread> threads = List.of(Thread.ofPlatform().start(work), Thread.ofPlatform().start(work));
        Thread.currentThread().interrupt();
        assertTrue(Uninterrupted.join(threads, goOn::countDown));
        assertEquals(2, ended.get());
        assertTrue(Thread.interrupted());
    }

    @Test
    void aThreadThatWasNotStartedIsNotWaitedFor() {
        Uninterrupted.join(Thread.ofPlatform().unstarted(() -> { }));
        assertFalse(Thread.interrupted());
    }
}
