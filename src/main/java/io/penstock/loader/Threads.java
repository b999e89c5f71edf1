package io.penstock.loader;

import java.util.List;

/** Joining threads of our own, which end by themselves: an interrupt of the caller waits until they have. */
final class Threads {

    private Threads() {
    }

    static void join(List<Thread> threads) {
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
