// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The ring of host slots alone: producers that claim a sequence, wait for its slot and publish it, and the caller, who
 * takes the slots in order and frees them. No plan, no bytes, no lease. Figures are nanoseconds a slot.
 *
 * <p>Beside it two {@link ArrayBlockingQueue}s, one of full and one of free buffers: what the JDK offers for the same.
 * It gives no order when there are two producers, which the ring does.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SlotHandOver {
    private static final int TAKES = 1000;

    /** Threads that fill. */
    @Param({"1", "2"})
    int producers;

    /** In the ring: few as for large batches, or the default for small ones. */
    @Param({"4", "18"})
    int slots;

    /** Waits until a slot has come to a turn. */
    private static final class Gate extends SpinGate {
        private final boolean taker;
        private HostSlot slot;
        private long sequence;
        private volatile boolean over;

        Gate(boolean taker) {
            super(taker ? TRAINER_AWAKE_NANOS : WORKER_AWAKE_NANOS);
            this.taker = taker;
        }

        boolean await(HostSlot until, long forSequence) {
            slot = until;
            sequence = forSequence;
            await(false);
            return !over;
        }

        void end() {
            over = true;
            wake();
        }

        @Override
        protected boolean isOpen() {
            return over || (taker ? slot.isReadyWith(sequence) : slot.isFreeFor(sequence));
        }
    }

    /** The engine's ring. */
    @State(Scope.Benchmark)
    public static class Ring {
        private final AtomicLong claimed = new AtomicLong();
        private final Gate reader = new Gate(true);
        private Device device;
        private SlotRing ring;
        private Gate[] writers;
        private Thread[] threads;
        private long next;

        @Setup
        public void open(SlotHandOver of) {
            device = Device.host();
            ring = new SlotRing(device, SlabLayout.of(new TensorSpec("bytes", DType.U8, 256)), 1, of.slots);
            writers = new Gate[of.producers];
            threads = new Thread[of.producers];
            for (int p = 0; p < of.producers; p++) {
                Gate gate = new Gate(false);
                writers[p] = gate;
                threads[p] = Thread.ofPlatform().daemon().unstarted(() -> produce(gate));
            }
            ring.connect(reader, writers);
            for (Thread thread : threads) {
                thread.start();
            }
        }

        private void produce(Gate gate) {
            for (long sequence = claimed.getAndIncrement(); gate.await(ring.slot(sequence), sequence);
                    sequence = claimed.getAndIncrement()) {
                ring.publish(sequence);
            }
        }

        @TearDown
        public void close() throws InterruptedException {
            for (Gate gate : writers) {
                gate.end();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            ring.close();
            device.close();
        }
    }

    /** The JDK's queues. */
    @State(Scope.Benchmark)
    public static class Queues {
        private ArrayBlockingQueue<Object> full;
        private ArrayBlockingQueue<Object> free;
        private Thread[] threads;

        @Setup
        public void open(SlotHandOver of) {
            full = new ArrayBlockingQueue<>(of.slots);
            free = new ArrayBlockingQueue<>(of.slots);
            for (int s = 0; s < of.slots; s++) {
                free.add(new Object());
            }
            threads = new Thread[of.producers];
            for (int p = 0; p < of.producers; p++) {
                threads[p] = Thread.ofPlatform().daemon().start(this::produce);
            }
        }

        private void produce() {
            try {
                while (true) {
                    full.put(free.take());
                }
            } catch (InterruptedException _) {
                // The trial is over.
            }
        }

        @TearDown
        public void close() throws InterruptedException {
            for (Thread thread : threads) {
                thread.interrupt();
                thread.join();
            }
        }
    }

    @Benchmark
    @OperationsPerInvocation(TAKES)
    public long slotRing(Ring with) {
        for (int i = 0; i < TAKES; i++) {
            with.reader.await(with.ring.slot(with.next), with.next);
            with.ring.release(with.next++);
        }
        return with.next;
    }

    @Benchmark
    @OperationsPerInvocation(TAKES)
    public void blockingQueues(Queues with) throws InterruptedException {
        for (int i = 0; i < TAKES; i++) {
            with.free.put(with.full.take());
        }
    }
}
