// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * A fixed number of threads that share numbered tasks.
 *
 * <p>Which thread does which task is chance. Results do not depend on it, because every float is computed by one task,
 * and the tasks do not depend on the number of threads. No sum is split between tasks.
 */
final class Threads implements AutoCloseable {

    private final int count;
    private final ExecutorService others;

    Threads(int count) {
        this.count = count;
        this.others = Executors.newFixedThreadPool(Math.max(1, count - 1),
                Thread.ofPlatform().daemon().name("compute-", 1).factory());
    }

    /** Calls {@code task} with 0, 1, … up to {@code tasks - 1} and returns when all calls have returned. */
    void forEach(int tasks, IntConsumer task) {
        AtomicInteger next = new AtomicInteger();
        Runnable work = () -> {
            for (int i = next.getAndIncrement(); i < tasks; i = next.getAndIncrement()) {
                task.accept(i);
            }
        };
        List<Future<?>> running = new ArrayList<>();
        for (int t = 1; t < Math.min(count, tasks); t++) {
            running.add(others.submit(work));
        }
        work.run();
        for (Future<?> each : running) {
            try {
                each.get();
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted in a step", e);
            } catch (ExecutionException e) {
                throw new IllegalStateException("a kernel failed", e.getCause());
            }
        }
    }

    @Override
    public void close() {
        others.shutdown();
    }
}
