// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import io.penstock.error.LimitException;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import org.jspecify.annotations.Nullable;

/**
 * A thread that makes calls for other threads: it begins with the first call, and ends when it is closed. A call that
 * comes while another one runs has a short-lived thread of its own, because the other may wait for the device's work.
 *
 * <p>It does not know the device whose calls it makes: a device that is dropped without being closed must be noticed.
 */
final class CudaThread implements AutoCloseable {

    /** A call, and how it ended. */
    private static final class Task {

        private final Runnable calls;
        private boolean isDone;
        private @Nullable Throwable error;

        Task(Runnable calls) {
            this.calls = calls;
        }

        /** What is thrown is thrown again by the thread that waits. */
        void run() {
            try {
                calls.run();
            } catch (RuntimeException | Error e) {
                error = e;
            }
        }
    }

    private final String name;
    private final Object lock = new Object();
    private @Nullable Thread thread;
    /** What is to be run, or runs. */
    private @Nullable Task task;
    private boolean isClosed;

    CudaThread(String name) {
        this.name = name;
    }

    /**
     * Runs calls on the thread, waits until they have ended, and throws what they threw.
     *
     * @param what names them in messages
     * @throws LimitException if no thread can be started; nothing was called
     */
    void run(String what, Runnable calls) {
        Task own = new Task(calls);
        boolean interrupted = false;
        boolean isTaken;
        synchronized (lock) {
            isTaken = task == null;
            if (isTaken) {
                if (thread == null) {
                    Thread started = newThread(this::serve);
                    ThreadStart.start(started, what);
                    thread = started;
                }
                task = own;
                lock.notifyAll();
                while (!own.isDone) {
                    interrupted |= Uninterrupted.await(lock);
                }
            }
        }
        Uninterrupted.restore(interrupted);
        if (!isTaken) {
            Thread besides = newThread(own::run);
            ThreadStart.start(besides, what);
            Uninterrupted.join(besides);
        }
        switch (own.error) {
            case null -> { }
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new AssertionError(own.error);
        }
    }

    private Thread newThread(Runnable run) {
        return Thread.ofPlatform().name(name).daemon().unstarted(run);
    }

    private void serve() {
        while (true) {
            Task next;
            synchronized (lock) {
                while (task == null && !isClosed) {
                    Uninterrupted.await(lock);          // nobody interrupts it
                }
                if (task == null) {
                    thread = null;
                    return;
                }
                next = task;
            }
            next.run();
            synchronized (lock) {
                next.isDone = true;
                task = null;
                lock.notifyAll();
            }
        }
    }

    /** Ends the thread. A later call starts it again, for that call alone. */
    @Override
    public void close() {
        Thread ending;
        synchronized (lock) {
            isClosed = true;
            ending = thread;
            lock.notifyAll();
        }
        if (ending != null) {
            Uninterrupted.join(ending);
        }
    }
}
