// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import java.util.concurrent.locks.LockSupport;

/**
 * Where one thread waits until a condition holds that other threads make true.
 *
 * <p><b>Assumptions.</b> One thread waits at a time. {@link #isOpen} reads volatile state. Whoever changes that state
 * so that the gate may open calls {@link #wake} afterwards.
 *
 * <p><b>Guarantees.</b> No wake-up is lost: the waiter announces itself, then looks again, then parks; the waker
 * writes, then looks for a waiter. A waker pays for a system call only when the waiter is parked. A wait that ends soon
 * costs neither side one: the waiter spins for some microseconds first, unless there is only one processor. Where other
 * programs compete for the processors, the waiter parks at once.
 */
public abstract class SpinGate extends ParkedThread.Padded {

    /**
     * For the trainer's thread: a wake-up from parking takes some 50 microseconds, in which the workers would fill all
     * slots and stop.
     */
    public static final long TRAINER_AWAKE_NANOS = 50_000;
    /** For threads of the loader: when they wait, the trainer is slower, as it should be, and there is no hurry. */
    public static final long WORKER_AWAKE_NANOS = 5_000;

    private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 128 : 0;

    /**
     * A yield that takes this long gave the processor to a thread that used its whole time slice, so other programs
     * compete for it. Linux lets a thread that yields wait behind all of them, and one that parks far less: beside
     * eight busy loops on two processors, a loader with two workers gave its batches some ten times as fast.
     */
    private static final long LONG_YIELD_NANOS = 1_000_000;
    /** How many waits park without yielding after such a yield. */
    private static final int WAITS_WITHOUT_YIELD = 256;

    /** How long to stay awake: yielding, so that a thread which has something to do gets the processor. */
    private final long awakeNanos;
    /** The wait after which {@link #waitsLong} is called. */
    private final long patienceNanos;
    /** How many of the next waits park without yielding. Only the waiting thread uses it. */
    private int waitsWithoutYield;

    protected SpinGate(long awakeNanos) {
        this(awakeNanos, Long.MAX_VALUE);
    }

    protected SpinGate(long awakeNanos, long patienceNanos) {
        this.awakeNanos = awakeNanos;
        this.patienceNanos = patienceNanos;
    }

    /** Whether the condition holds. Called often, by the waiting thread. */
    protected abstract boolean isOpen();

    /** Called once per wait that is longer than the gate's patience, by the waiting thread. */
    protected void waitsLong() {
    }

    /**
     * Waits until the gate is open; returns false only after an interrupt, if that may end the wait. The interrupt
     * status is set again.
     */
    public final boolean await(boolean interruptible) {
        for (int i = 0; i < SPINS; i++) {
            if (isOpen()) {
                return true;
            }
            Thread.onSpinWait();
        }
        if (waitsWithoutYield > 0) {
            waitsWithoutYield--;
        } else if (yieldsUntilOpen(awakeNanos)) {
            return true;
        }
        return park(interruptible, Long.MAX_VALUE);
    }

    /** {@return whether it opens while this thread stays awake, for as long as that} */
    private boolean yieldsUntilOpen(long nanos) {
        long begin = System.nanoTime();
        long now = begin;
        while (now - begin < nanos) {
            if (isOpen()) {
                return true;
            }
            Thread.yield();
            long yielded = now;
            now = System.nanoTime();
            if (now - yielded > LONG_YIELD_NANOS) {
                waitsWithoutYield = WAITS_WITHOUT_YIELD;
            }
        }
        return isOpen();
    }

    /** Waits like {@link #await(boolean)} without interrupts, but returns after a time at the latest. */
    public final boolean awaitNanos(long nanos) {
        for (int i = 0; i < SPINS / 4; i++) {
            if (isOpen()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return park(false, nanos);
    }

    /**
     * Waits like {@link #awaitNanos(long)}, but stays awake: a thread that parks for a few microseconds sleeps for some
     * 70, the timer's slack included. Parks all the same where other programs compete for the processors.
     */
    final boolean awaitAwake(long nanos) {
        if (waitsWithoutYield > 0) {
            waitsWithoutYield--;
            return park(false, nanos);
        }
        return yieldsUntilOpen(nanos);
    }

    private boolean park(boolean interruptible, long nanos) {
        parked = Thread.currentThread();
        boolean interrupted = false;
        long patience = nanos == Long.MAX_VALUE ? patienceNanos : Long.MAX_VALUE;
        long begin = patience == Long.MAX_VALUE ? 0 : System.nanoTime();
        try {
            while (!isOpen()) {
                if (Thread.interrupted()) {             // a thread with the flag set would not park
                    interrupted = true;
                    if (interruptible) {
                        return false;
                    }
                }
                if (patience != Long.MAX_VALUE) {
                    LockSupport.parkNanos(this, patience);
                    if (System.nanoTime() - begin >= patience && !isOpen()) {
                        patience = Long.MAX_VALUE;
                        waitsLong();
                    }
                } else if (nanos == Long.MAX_VALUE) {
                    LockSupport.park(this);
                } else {
                    LockSupport.parkNanos(this, nanos);
                    return isOpen();
                }
            }
            return true;
        } finally {
            parked = null;
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether what the waiter waits for may be this. Called by wakers, while a thread waits. */
    protected boolean isFor(long what) {
        return true;
    }

    /**
     * Wakes the waiter if this is what it waits for. The waiter sets what that is before it waits. The caller must have
     * written the changed state by a volatile write before.
     */
    final void wakeFor(long what) {
        if (parked != null && isFor(what)) {
            wake();
        }
    }

    /** Lets the waiter check again. The caller must have written the changed state by a volatile write before. */
    public final void wake() {
        Thread waiter = parked;
        if (waiter != null) {
            LockSupport.unpark(waiter);
        }
    }
}
