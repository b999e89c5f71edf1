// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Turns the end of the process from outside, such as Ctrl-C, into an interrupt of the thread that runs the command, and
 * holds the process until that has cleaned up: half-written files are removed, threads and devices closed.
 */
final class Interruption {

    private static final long GRACE_SECONDS = 15;

    private final Thread worker;
    private final CountDownLatch finished = new CountDownLatch(1);

    private Interruption(Thread worker) {
        this.worker = worker;
    }

    static Interruption ofCurrentThread() {
        Interruption interruption = new Interruption(Thread.currentThread());
        Runtime.getRuntime().addShutdownHook(new Thread(interruption::await, "penstock-shutdown"));
        return interruption;
    }

    private void await() {
        if (finished.getCount() > 0) {
            worker.interrupt();
            try {
                finished.await(GRACE_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Lets the process end: the command is done. */
    void finished() {
        finished.countDown();
    }
}
