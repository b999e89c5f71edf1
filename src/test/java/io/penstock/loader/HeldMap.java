// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.Tensor;
import io.penstock.os.Uninterrupted;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/** Code of a user that copies a row, and of one sample takes as long as the test wants. */
final class HeldMap implements SampleMap {

    private final long held;
    private final boolean obeysInterrupts;
    /** Open when a worker is in the map with the sample. */
    final CountDownLatch entered = new CountDownLatch(1);
    /** Ends it. */
    final CountDownLatch released = new CountDownLatch(1);
    /** Whether a thread came in with its interrupt status set. */
    volatile boolean cameInterrupted;
    /** Where the held sample is to be written. */
    volatile MemorySegment target;
    volatile Thread thread;
    /** What became of the held sample's copy: null if it was made. */
    volatile RuntimeException afterwards;

    /**
     * Holds one sample.
     *
     * @param held the sample of {@link ByteRows}; -1 for none
     * @param obeysInterrupts whether an interrupt ends it
     */
    HeldMap(long held, boolean obeysInterrupts) {
        this.held = held;
        this.obeysInterrupts = obeysInterrupts;
    }

    Dataset of(Dataset rows) {
        return rows.map("row", rows.fields().getFirst(), "held", this);
    }

    @Override
    public boolean readsInPlace() {
        return true;
    }

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) throws IOException {
        cameInterrupted |= Thread.currentThread().isInterrupted();
        if (held >= 0 && released.getCount() > 0 && isHeld(in.segment())) {
            target = out.segment();
            thread = Thread.currentThread();
            entered.countDown();
            hold();
            try {
                out.segment().copyFrom(in.segment());
            } catch (RuntimeException e) {
                afterwards = e;
                throw e;
            }
            return;
        }
        out.segment().copyFrom(in.segment());
    }

    private boolean isHeld(MemorySegment row) {
        for (int i = 0; i < row.byteSize(); i++) {
            if (row.get(ValueLayout.JAVA_BYTE, i) != ByteRows.at(held, i)) {
                return false;
            }
        }
        return true;
    }

    private void hold() throws IOException {
        boolean interrupted = false;
        while (released.getCount() > 0) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                interrupted = true;
                if (obeysInterrupts) {
                    throw new InterruptedIOException("interrupted");
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    void release() {
        released.countDown();
        LockSupport.unpark(thread);
    }

    /** Waits until a worker is in the map. */
    void awaitEntered() {
        try {
            entered.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until the memory of the slot is freed. */
    void awaitFreed() {
        while (target.scope().isAlive()) {
            Thread.yield();
        }
    }

    /** Waits for all threads of a loader to end; one may start another before it does. */
    static void awaitNoThreads(String name) {
        for (Set<Thread> threads = threads(name); !threads.isEmpty(); threads = threads(name)) {
            Uninterrupted.join(List.copyOf(threads));
        }
    }

    static Set<Thread> threads(String name) {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(name + "-"))
                .forEach(threads::add);
        return threads;
    }
}
