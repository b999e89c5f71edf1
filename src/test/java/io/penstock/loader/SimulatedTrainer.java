// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.collate.Collator;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.internal.Closing;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A trainer on a simulated device: its stream, and its memory of what each batch must hold. */
final class SimulatedTrainer implements AutoCloseable {

    private static final long RESULT_BYTES = 64 << 10;

    final Device device;
    final DeviceStream stream;
    private final Deque<PinnedBuffer> free = new ArrayDeque<>();
    private final List<Expected> expected = new ArrayList<>();

    private record Expected(PinnedBuffer result, long[] samples, int width, long number) {
    }

    /** Makes the device current, as a thread must that enqueues work. */
    SimulatedTrainer(int ordinal) {
        device = Device.cuda(ordinal);
        device.makeCurrent();
        stream = device.openStream("trainer");
    }

    /** Says to the simulation what it cannot see: that a worker writes into the slot. */
    record Announcing(Collator inner) implements Collator {
        @Override
        public SlabLayout layout(Dataset dataset, int batchSize) {
            return inner.layout(dataset, batchSize);
        }

        @Override
        public void collate(BatchReader in, BatchPlan plan, Slab out) {
            CudaSimulator.hostUses(out.segment(), true);
            inner.collate(in, plan, out);
        }
    }

    /** Two workers, two batches ahead, three device slots; copies are in the way of slots' reuse at once. */
    DataLoaderBuilder loader(ByteRows rows) {
        return DataLoader.builder(rows).collator(new Announcing(Stack.fields())).batchSize(8).shuffle(7).workers(2)
                .prefetch(2)
                .device(device);
    }

    DataLoaderBuilder loader() {
        return loader(new ByteRows(1_000, 128));
    }

    /** Enqueues a kernel that reads the whole batch for a time. */
    void compute(Batch batch, DeviceStream on, long micros) {
        CudaSimulator.launchReader(on.handle(), batch.address("row"), batch.byteSize(), micros);
    }

    /** Enqueues a copy of what the batch holds at that point of a stream. */
    void look(Batch batch, DeviceStream on) {
        PinnedBuffer result = free.isEmpty() ? device.allocatePinned(RESULT_BYTES) : free.pop();
        batch.copyToHost(on, result);
        long[] samples = new long[batch.count()];
        for (int row = 0; row < samples.length; row++) {
            samples[row] = batch.sample(row);
        }
        expected.add(new Expected(result, samples, Math.toIntExact(batch.fields().getFirst().dim(1)), batch.number()));
    }

    /** Compares what was looked at; the streams that it was enqueued on have been waited for. */
    void verify() {
        for (Expected look : expected) {
            CudaSimulator.hostUses(look.result.segment(), false);
            for (int row = 0; row < look.samples.length; row++) {
                for (int i = 0; i < look.width; i++) {
                    assertEquals(ByteRows.at(look.samples[row], i),
                            look.result.segment().get(ValueLayout.JAVA_BYTE, (long) row * look.width + i),
                            "batch " + look.number + ", sample " + look.samples[row] + ", byte " + i);
                }
            }
            free.push(look.result);
        }
        expected.clear();
    }

    /** Takes batches on the trainer's stream and compares them. */
    void train(DeviceLoader loader, int batches) {
        for (int i = 0; i < batches; i++) {
            try (Batch batch = loader.next(stream)) {
                look(batch, stream);
            }
        }
        stream.synchronize();
        verify();
    }

    @Override
    public void close() {
        expected.forEach(look -> free.push(look.result));
        new Closing().step(stream::close).step(() -> free.forEach(PinnedBuffer::close)).step(device::close).end();
    }
}
