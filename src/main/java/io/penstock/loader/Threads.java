package io.penstock.loader;

import java.util.List;

/** Waiting for threads of our own, which end by themselves: an interrupt of the caller waits until they have. */
final class Threads {

    private Threads() {
    }

    /** Runs a task on a platform thread, which CUDA calls need: this one, unless it is virtual. */
    static void runOnPlatformThread(Runnable task) {
        if (!Thread.currentThread().isVirtual()) {
            task.run();
            return;
        }
        var closing = new Closing();
        join(List.of(Thread.ofPlatform().start(() -> closing.step(task))));
        closing.end();
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
