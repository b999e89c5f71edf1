// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.alert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TokenWindows;
import io.penstock.diagnose.alert.AlertState.Progress;
import io.penstock.loader.DataLoader;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class AlertTest {

    private static final long MILLI = 1_000_000;
    private static final long MINUTE = 60_000 * MILLI;

    @TempDir
    Path folder;

    /** A loader of which each batch of 4 samples takes 10 ms, some of them waiting. */
    private static final class Training {
        private long at;
        private long batches;
        private long wait;

        Progress after(int steps, double waitShare) {
            at += steps * 10 * MILLI;
            batches += steps;
            wait += Math.round(steps * 10 * MILLI * waitShare);
            return new Progress(at, batches, 4 * batches, wait);
        }

        Progress afterNothing(long nanos) {
            at += nanos;
            return new Progress(at, batches, 4 * batches, wait);
        }
    }

    private static List<String> alerts(AlertState state, Progress... all) {
        List<String> alerts = new ArrayList<>();
        for (Progress progress : all) {
            Alert alert = state.accept(progress);
            if (alert != null) {
                alerts.add(alert.toString());
            }
        }
        return alerts;
    }

    @Test
    void firesOnceAndClearsOnceHoweverTheValueWavers() {
        Training training = new Training();
        AlertState state = new AlertState(AlertRule.waitAbove(0.2, 50), MINUTE);
        assertEquals(List.of("wait above 0.2 fired: wait share 0.25 over 50 steps, at batch 151",
                "wait above 0.2 cleared: wait share 0.05 over 50 steps, at batch 401",
                "wait above 0.2 fired: wait share 0.9 over 50 steps, at batch 451"), alerts(state,
                        training.after(1, 1), training.after(50, 0), training.after(50, 0.19), training.after(50, 0.25),
                        training.after(50, 0.3), training.after(50, 0.19), training.after(50, 0.21),
                        training.after(50, 0.185), training.after(50, 0.05), training.after(50, 0.9)));
    }

    @Test
    void aStretchIsJudgedByItsMeanAndNotBeforeItIsWhole() {
        Training training = new Training();
        AlertState state = new AlertState(AlertRule.utilizationBelow(0.8, 100), MINUTE);
        assertEquals(List.of(), alerts(state, training.after(1, 0), training.after(40, 0.4), training.after(59, 0)));
        assertEquals(List.of(), alerts(state, training.after(1, 0)), "0.84 over 100 steps");
        assertEquals(List.of("utilization below 0.8 fired: utilization 0.7 over 100 steps, at batch 201"),
                alerts(state, training.after(50, 0), training.after(50, 0.6)));
    }

    @Test
    void theFirstBatchIsNotJudgedAndThroughputThatStopsIsSeen() {
        Training training = new Training();
        AlertState throughput = new AlertState(AlertRule.throughputBelow(300, 10), MINUTE);
        AlertState wait = new AlertState(AlertRule.waitAbove(0, 10), MINUTE);
        Progress[] all = {training.afterNothing(5 * MINUTE), training.after(1, 1), training.after(10, 0),
            training.afterNothing(MINUTE / 2), training.afterNothing(MINUTE), training.after(10, 0),
            training.after(10, 0)};
        assertEquals(List.of("throughput below 300.0 fired: samples per second 0 over 0 steps, at batch 11",
                "throughput below 300.0 cleared: samples per second 400 over 10 steps, at batch 21"),
                alerts(throughput, all));
        assertEquals(List.of(), alerts(wait, all), "of waits nothing is known while nothing comes");
    }

    @Test
    void rulesThatMakeNoSenseAreRefused() {
        for (AlertRule.Quantity quantity : AlertRule.Quantity.values()) {
            assertThrows(IllegalArgumentException.class, () -> new AlertRule("a", quantity, 0.5, 0.5, 0));
            assertThrows(IllegalArgumentException.class, () -> new AlertRule("a", quantity, -1, 0.5, 1));
            assertThrows(IllegalArgumentException.class, () -> new AlertRule("a", quantity, 0.5,
                    quantity == AlertRule.Quantity.WAIT_SHARE ? 0.6 : 0.4, 1));
        }
        assertEquals(1, AlertRule.utilizationBelow(0.95, 1).clearThreshold());
    }

    @Test
    @Timeout(1200)
    void aCallbackRunsOnTheMonitorsThreadAndItsErrorsHurtNobody() throws Exception {
        BlockingQueue<Alert> told = new LinkedBlockingQueue<>();
        List<Thread> threads = new ArrayList<>();
        Path file = Corpora.rawU16(folder, 20_000, 1);
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 32)).batchSize(4).workers(0).open();
                AlertMonitor _ = new AlertMonitor(() -> new Progress(System.nanoTime(),
                        loader.report().batches(), loader.report().samples(), loader.report().consumerWaitNanos()),
                        List.of(AlertRule.throughputBelow(1e12, 5)), alert -> {
                            threads.add(Thread.currentThread());
                            told.add(alert);
                            throw new AssertionError("a callback that fails");
                        }, MILLI, MINUTE)) {
            Alert first = null;
            while (first == null) {
                loader.next().close();
                first = told.poll(1, TimeUnit.MILLISECONDS);
            }
            assertTrue(first.state() == Alert.State.FIRED && first.steps() >= 5, "" + first);
            assertNotEquals(Thread.currentThread(), threads.getFirst());
            loader.next().close();
        }
    }
}
