// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.collate.Pad;
import io.penstock.dataset.Documents;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two threads read a shared batch at the same time. Its fields are not where those of the slot's last batch were. */
class SharedLeaseTest {

    private static final int BATCHES = Thorough.times(400, 4_000);
    private static final List<String> FIELDS = List.of(Pad.ATTENTION_MASK, Pad.LENGTHS);

    private static MemoryTokenStore documents() {
        var random = new SplittableRandom(5);
        long[] starts = new long[301];
        for (int d = 0; d < 300; d++) {
            starts[d + 1] = starts[d] + random.nextInt(1, 900);
        }
        return new MemoryTokenStore(DType.U16, starts);
    }

    /** Views of the fields, each of which must begin where its field does. */
    private static List<Tensor> views(Batch batch) {
        List<Tensor> views = new ArrayList<>();
        for (String field : FIELDS) {
            Tensor view = batch.tensor(field);
            assertEquals(batch.address(field), view.segment().address(), field);
            views.add(view);
        }
        return views;
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void eachGetsItsFieldsAndNoViewOutlivesTheBatch(TransferMode transfer) {
        try (MemoryTokenStore store = documents();
                DataLoader loader = DataLoader.builder(Documents.of(store)).batchSize(2).shuffle(3)
                        .collator(Pad.toLongest(0)).workers(1).prefetch(2).transfer(transfer)
                        .leases(LeaseMode.SHARED).open();
                SecondReader second = new SecondReader()) {
            for (int i = 0; i < BATCHES; i++) {
                Batch batch = loader.next();
                second.read(batch);
                for (int later = i % 16; later > 0; later--) {
                    Thread.onSpinWait();
                }
                List<Tensor> views = new ArrayList<>(views(batch));
                views.addAll(second.views());
                batch.close();
                for (Tensor view : views) {
                    assertThrows(IllegalStateException.class, () -> view.getLong(0), "batch " + i);
                }
            }
        }
    }

    /** A thread that stays awake, so that it reads a batch as soon as it is told to. */
    private static final class SecondReader implements AutoCloseable {

        private volatile Batch given;
        private volatile List<Tensor> views;
        private volatile Throwable error;
        private volatile boolean over;

        SecondReader() {
            Thread.ofPlatform().daemon().name("second-reader").start(this::serve);
        }

        private void serve() {
            while (!over) {
                Batch batch = given;
                if (batch == null) {
                    Thread.onSpinWait();
                    continue;
                }
                given = null;
                try {
                    views = SharedLeaseTest.views(batch);
                } catch (Throwable t) {
                    error = t;
                }
            }
        }

        void read(Batch batch) {
            views = null;
            given = batch;
        }

        List<Tensor> views() {
            List<Tensor> read = views;
            while (read == null) {
                if (error != null) {
                    throw new AssertionError(error);
                }
                Thread.yield();
                read = views;
            }
            return read;
        }

        @Override
        public void close() {
            over = true;
        }
    }
}
