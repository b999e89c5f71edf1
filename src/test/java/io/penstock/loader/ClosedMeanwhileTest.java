// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.dataset.Dataset;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A loader that another thread closes while a batch is being made. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClosedMeanwhileTest {

    private static final int BATCH = 4;
    private static final Set<Thread.State> CLOSES = EnumSet.of(Thread.State.NEW, Thread.State.RUNNABLE,
            Thread.State.BLOCKED);

    /** The maker goes on when the closing thread waits for it. */
    @ParameterizedTest
    @CsvSource({"IN_PLACE, 0", "IN_PLACE, 1", "COPY, 0", "COPY, 1"})
    void theStateCountsWhatTheTrainerWasGiven(TransferMode transfer, int workers) throws Exception {
        var inside = new CountDownLatch(1);
        var closing = new Thread[1];
        Dataset numbers = Dataset.generate(1000, List.of(new TensorSpec("x", DType.I64)), "numbers",
                (sample, _, out) -> {
                    if (sample == 10 * BATCH) {
                        inside.countDown();
                        while (CLOSES.contains(closing[0].getState())) {
                            Thread.onSpinWait();
                        }
                    }
                    out.tensor(0).set(sample);
                });
        DataLoader loader = DataLoader.builder(numbers).batchSize(BATCH).workers(workers).prefetch(1)
                .transfer(transfer).open();
        closing[0] = new Thread(loader::close);
        FutureTask<Integer> trainer = new FutureTask<>(() -> {
            int given = 0;
            try {
                while (true) {
                    loader.next().close();
                    given++;
                }
            } catch (IllegalStateException e) {
                assertEquals("the loader is closed", e.getMessage());
                return given;
            }
        });
        Thread.ofPlatform().start(trainer);
        inside.await();
        closing[0].start();
        closing[0].join();
        assertEquals(trainer.get() * BATCH, loader.state().position());
    }
}
