package io.penstock.loader;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The worker threads of a loader: started once, kept through epochs and moves, each working on the run at hand.
 *
 * <p>The monitor here guards the change from one run to the next; while a run goes on nobody takes it.
 */
final class WorkerPool implements AutoCloseable {

    private final List<Worker> workers;
    private final List<Thread> threads = new ArrayList<>();
    private Run run;
    private int working;
    private boolean closed;

    /**
     * Starts a thread a worker. They are daemons: a loader that was forgotten does not keep the JVM alive.
     *
     * @param onDeath told of an error that ends a thread outside of any batch
     */
    WorkerPool(String name, List<Worker> workers, Consumer<Throwable> onDeath) {
        this.workers = workers;
        try {
            for (int w = 0; w < workers.size(); w++) {
                Worker worker = workers.get(w);
                threads.add(Thread.ofPlatform().name(name + "-worker-" + w).daemon()
                        .uncaughtExceptionHandler((_, error) -> onDeath.accept(error))
                        .start(() -> serve(worker)));
            }
        } catch (Throwable t) {                         // no more threads to be had
            close();
            throw t;
        }
    }

    private void serve(Worker worker) {
        for (Run next = join(null); next != null; next = join(next)) {
            try {
                worker.work(next);
            } finally {
                leave();
            }
        }
    }

    /** Waits for a run other than the one before; null once the pool is closed. */
    private synchronized Run join(Run before) {
        while (run == before && !closed) {
            try {
                wait();
            } catch (InterruptedException _) {
                // Nobody may interrupt a worker: closing is how it ends.
            }
        }
        if (closed) {
            return null;
        }
        working++;
        return run;
    }

    private synchronized void leave() {
        working--;
        notifyAll();
    }

    synchronized void begin(Run next) {
        run = next;
        notifyAll();
    }

    /** Cancels the run and waits until no worker works on it. Each finishes the batch it is at. */
    synchronized void stop() {
        if (run != null) {
            run.cancel();
        }
        wakeAll();
        boolean interrupted = false;
        while (working > 0) {
            try {
                wait();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void wakeAll() {
        for (Worker worker : workers) {
            worker.wake();
        }
    }

    /** Stops the run, ends the threads and waits for them. */
    @Override
    public void close() {
        stop();
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        Threads.join(threads);
        var closing = new Closing();
        workers.forEach(worker -> closing.step(worker::close));
        closing.end();
    }
}
