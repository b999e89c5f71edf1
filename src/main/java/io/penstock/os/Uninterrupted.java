// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import java.util.List;

/**
 * Waiting that an interrupt does not end. A loop waits until its condition holds and remembers whether any wait was
 * interrupted; after the loop, {@link #restore} sets the interrupt again.
 */
public final class Uninterrupted {

    private static final Runnable NOTHING = () -> { };

    /** Waits once on a monitor that the caller holds; returns whether an interrupt ended the wait, and clears it. */
    public static boolean await(Object monitor) {
        return await(monitor, 0);
    }

    /**
     * Waits once on a monitor that the caller holds, for a time at most, 0 meaning forever; returns whether an
     * interrupt ended the wait, and clears it.
     */
    @SuppressWarnings("WaitNotInLoop") // the caller looks again, as after any other wait
    public static boolean await(Object monitor, long millis) {
        try {
            monitor.wait(millis);
            return false;
        } catch (InterruptedException _) {
            return true;
        }
    }

    /** Sets the calling thread's interrupt again if there was one. */
    public static void restore(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until a started thread has ended. */
    public static void join(Thread thread) {
        join(List.of(thread));
    }

    /** Interrupts a started thread and waits until it has ended, for a time at most; returns whether it has. */
    public static boolean end(Thread thread, long millis) {
        thread.interrupt();
        boolean interrupted = false;
        long begin = System.nanoTime();
        long left = millis;
        while (thread.isAlive() && left > 0) {
            try {
                thread.join(left);
            } catch (InterruptedException _) {
                interrupted = true;
            }
            left = millis - (System.nanoTime() - begin) / 1_000_000;
        }
        restore(interrupted);
        return !thread.isAlive();
    }

    /** Waits until threads have ended; one that was not started counts as ended. */
    public static void join(List<Thread> threads) {
        join(threads, NOTHING);
    }

    /**
     * Waits until threads have ended; one that was not started counts as ended. Each interrupt of the caller calls
     * {@code onInterrupt}, which may end the threads sooner. Returns whether there was an interrupt, which is set
     * again.
     */
    public static boolean join(List<Thread> threads, Runnable onInterrupt) {
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException _) {
                    interrupted = true;
                    onInterrupt.run();
                }
            }
        }
        restore(interrupted);
        return interrupted;
    }
}
