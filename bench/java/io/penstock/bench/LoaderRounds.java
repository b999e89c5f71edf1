// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.device.DeviceStream;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import java.util.concurrent.locks.LockSupport;

/** Rounds over a loader whose batches go to a device. */
final class LoaderRounds {
    private static final long SUBMIT_TIMEOUT_NANOS = 10_000_000_000L;
    private static final long STEP_NANOS = 50_000;

    private final DataLoader loader;
    private final DeviceStream stream;
    /** Behind this many batches the loader runs at its own speed, whatever was ready before. */
    private final int settling;

    LoaderRounds(DataLoader loader, DeviceStream stream) {
        this.loader = loader;
        this.stream = stream;
        this.settling = loader.memory().hostSlots() + loader.memory().deviceSlots();
    }

    /**
     * How long this many batches take from the arrival of one to the arrival of the last. In between the trainer does
     * not wait: its stream does.
     */
    long nanos(int batches) {
        for (int i = 0; i < settling; i++) {
            loader.next(stream).close();
        }
        loader.next().close();
        long begin = System.nanoTime();
        for (int i = 1; i < batches; i++) {
            loader.next(stream).close();
        }
        loader.next().close();
        return System.nanoTime() - begin;
    }

    /**
     * What the loader's copy thread needs to submit a batch: waits, copy, records and its own bookkeeping, by its own
     * clock. All device slots but the one that is closed are full, so each close leads to one submit, and the growth of
     * the loader's total is that one's time.
     */
    long[] submitNanos(int submits) {
        long[] nanos = new long[submits];
        for (int i = -settling; i < submits; i++) {
            long before;
            try (Batch _ = loader.next(stream)) {
                before = settled();
            }
            long deadline = System.nanoTime() + SUBMIT_TIMEOUT_NANOS;
            long after = loader.report().submitNanos();
            while (after == before) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException("the loader submits no batch though a slot is free");
                }
                Thread.onSpinWait();
                after = loader.report().submitNanos();
            }
            if (i >= 0) {
                nanos[i] = after - before;
            }
        }
        stream.synchronize();
        return nanos;
    }

    /** The total, once the loader has filled every slot that is free and so submits no more. */
    private long settled() {
        long total = loader.report().submitNanos();
        long since = System.nanoTime();
        while (System.nanoTime() - since < 50_000) {
            Thread.onSpinWait();
            long now = loader.report().submitNanos();
            if (now != total) {
                total = now;
                since = System.nanoTime();
            }
        }
        return total;
    }

    /** Returns when the loader has filled its slots, and leaves the device to others. */
    void rest(long batchNanos) {
        settled();
        long end = System.nanoTime() + 2 * settling * batchNanos;
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /**
     * Takes batches one by one, each when it has long been there, as a trainer does whose steps are long: batches that
     * are taken quickly have no account.
     */
    void takeEach(int batches) {
        for (int i = 0; i < batches; i++) {
            loader.next(stream).close();
            stream.synchronize();
            long end = System.nanoTime() + STEP_NANOS;
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        }
    }

    /** How long as many steps take as there are places for how long the call for a batch took. */
    long stepNanos(ComputeStandIn compute, long[] nextNanos) {
        loader.next().close();
        long begin = System.nanoTime();
        for (int i = 0; i < nextNanos.length; i++) {
            long asked = System.nanoTime();
            try (Batch _ = compute.onStream() ? loader.next(stream) : loader.next()) {
                nextNanos[i] = System.nanoTime() - asked;
                compute.run(stream);
            }
            stream.synchronize();
        }
        return System.nanoTime() - begin;
    }

    /** The same steps with the batch on the device already. */
    static long syntheticNanos(int steps, ComputeStandIn compute, DeviceStream stream) {
        stream.synchronize();
        long begin = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            compute.run(stream);
            stream.synchronize();
        }
        return System.nanoTime() - begin;
    }
}
