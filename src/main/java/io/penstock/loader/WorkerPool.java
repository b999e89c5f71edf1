// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.internal.Closing;
import io.penstock.loader.slots.Leases;
import io.penstock.loader.slots.Run;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The worker threads of one or more loaders: started once, kept through epochs and moves, each working on the current
 * runs, one per loader.
 *
 * <p>Workers run user code, which may take long or never return. A thread is interrupted only while it works on a
 * run that is over, and forgets the interrupt before the next one. A thread that does not end in spite of it is
 * <em>abandoned</em> when the pool is closed: it holds the loader's memory as a lease does, until it ends.
 *
 * <p>The monitor here guards the change from one run to the next; while a run goes on nobody takes it.
 */
final class WorkerPool implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(WorkerPool.class.getName());

    private final String name;
    private final Duration patience;
    private final List<Leases> leases;
    private final List<Member> members = new ArrayList<>();
    private Run @Nullable [] runs;
    private int working;
    private boolean closed;

    /** A worker and its thread. Guarded by the pool's monitor. */
    private final class Member {
        private final Worker worker;
        private final Thread thread;
        private boolean works;
        private boolean abandoned;

        Member(Worker worker, int number, Consumer<Throwable> onDeath) {
            this.worker = worker;
            this.thread = Thread.ofPlatform().name(name + "-worker-" + number).daemon()
                    .uncaughtExceptionHandler((_, error) -> onDeath.accept(error)).unstarted(() -> serve(this));
        }
    }

    /**
     * Starts a daemon thread for each worker: a forgotten loader does not keep the JVM alive.
     *
     * @param patience how long to wait for a worker that does not end
     * @param leases of each loader; count workers that are abandoned
     * @param onDeath receives an error that ends a thread outside of any batch
     */
    WorkerPool(String name, List<Worker> workers, Duration patience, List<Leases> leases,
            Consumer<Throwable> onDeath) {
        this.name = name;
        this.patience = patience;
        this.leases = leases;
        try {
            for (int w = 0; w < workers.size(); w++) {
                var member = new Member(workers.get(w), w, onDeath);
                ThreadStart.start(member.thread, "worker " + (w + 1) + " of " + workers.size());
                members.add(member);
            }
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    private void serve(Member member) {
        for (Run[] next = join(member, null); next != null; next = join(member, next)) {
            try {
                member.worker.work(next);
            } finally {
                leave(member);
            }
        }
    }

    /** Waits for runs other than the previous ones; returns null once the pool is closed. */
    private synchronized Run @Nullable [] join(Member member, Run @Nullable [] before) {
        while (runs == before && !closed) {
            Uninterrupted.await(this);                  // an interrupt is meant for the run before
        }
        if (closed) {
            return null;
        }
        Thread.interrupted();
        member.worker.resume();
        member.works = true;
        working++;
        return runs;
    }

    private synchronized void leave(Member member) {
        member.works = false;
        working--;
        notifyAll();
        if (member.abandoned) {
            LOG.log(System.Logger.Level.INFO, "{0}: {1} has ended now", name, member.thread.getName());
            leases.forEach(each -> each.ended(true));
        }
    }

    /** Begins runs, one for each place of the workers, in the same order. */
    synchronized void begin(Run[] next) {
        runs = next;
        notifyAll();
    }

    /**
     * Cancels the runs and waits until no worker works on them. Each stops after its current sample; one that takes
     * longer than the pool's patience is interrupted. Throws {@link IllegalStateException} if a worker does not end
     * even then.
     */
    synchronized void stop() {
        cancel();
        if (awaitIdle()) {
            return;
        }
        interrupt();
        if (!awaitIdle()) {
            throw new IllegalStateException("cannot move the loader: " + String.join(", ", working().map(
                    member -> describe(member) + " has not ended " + 2 * patience.toMillis()
                            + " ms after its run ended").toList()));
        }
    }

    private void cancel() {
        if (runs != null) {
            Stream.of(runs).forEach(Run::cancel);
        }
        members.forEach(member -> member.worker.wake());
    }

    private Stream<Member> working() {
        return members.stream().filter(member -> member.works);
    }

    private void interrupt() {
        working().forEach(member -> member.thread.interrupt());
    }

    private static String describe(Member member) {
        return member.thread.getName() + ", now at " + place(member.thread) + ",";
    }

    /** Returns where a thread is: its innermost call outside the JDK. */
    private static String place(Thread thread) {
        StackTraceElement[] frames = thread.getStackTrace();
        return Stream.of(frames).filter(frame -> !frame.getClassName().matches("(java|jdk|sun)\\..*"))
                .findFirst().map(StackTraceElement::toString)
                .orElse(frames.length == 0 ? "its end" : frames[0].toString());
    }

    /**
     * Waits until no worker works; returns false if that takes too long. An interrupt of the caller does not end the
     * wait.
     */
    private boolean awaitIdle() {
        boolean interrupted = false;
        long begin = System.nanoTime();
        long most = TimeUnit.NANOSECONDS.convert(patience);
        long left = most;
        while (working > 0 && left > 0) {
            interrupted |= Uninterrupted.await(this, Math.ceilDiv(left, 1_000_000));
            left = most - (System.nanoTime() - begin);
        }
        Uninterrupted.restore(interrupted);
        return working == 0;
    }

    /** Describes what the worker that fills a sequence of a place is doing. */
    synchronized Optional<String> describe(int place, long sequence) {
        return working().filter(member -> member.worker.fills(place, sequence)).map(WorkerPool::describe)
                .findFirst();
    }

    /** Interrupts the workers, ends the threads and waits for them; abandons those that do not end. */
    @Override
    public void close() {
        List<Member> ended = new ArrayList<>();
        synchronized (this) {
            cancel();
            if (!closed) {
                interrupt();
                awaitIdle();
            }
            closed = true;
            notifyAll();
            for (Member member : members) {
                if (!member.works) {
                    ended.add(member);
                } else if (!member.abandoned) {
                    abandon(member);
                }
            }
        }
        Uninterrupted.join(ended.stream().map(member -> member.thread).toList());
        var closing = new Closing();
        ended.forEach(member -> closing.step(member.worker::close));
        closing.end();
    }

    private void abandon(Member member) {
        member.abandoned = true;
        leases.forEach(Leases::begin);
        LOG.log(System.Logger.Level.WARNING, "{0}: {1} has not ended {2} ms after the loader was closed; its thread and"
                + " the loader''s memory are kept until it does", name, describe(member), patience.toMillis());
    }
}
