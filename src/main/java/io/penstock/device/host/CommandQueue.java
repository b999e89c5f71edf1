// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.Kernel;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The thread of one stream, and its ring of commands.
 *
 * <p><b>Positions.</b> Commands are numbered from 0. {@code enqueued} counts commands put in, {@code completed} those
 * that have run: work up to position {@code p} has ended exactly when {@code completed >= p}. Recording an event only
 * notes the current count; a command runs for it only if it is timed.
 *
 * <p><b>Assumptions.</b> A command waits only for a position that {@code enqueued} had reached before the command was
 * put in. So waits form no cycle, and every queue makes progress.
 *
 * <p><b>Guarantees.</b> Commands run in order. A command sees what a thread wrote before enqueueing it; a thread that
 * has seen a command's position complete sees what the command wrote. Enqueueing and waiting allocate nothing.
 */
final class CommandQueue implements Runnable {
    /** A power of two. */
    static final int CAPACITY = 1024;
    /** Some microseconds: about the cost of parking and waking a thread. */
    private static final int SPINS = 512;
    /** Safepoints cannot interrupt a copy, so a large one runs in pieces of some tens of microseconds. */
    private static final long PIECE_BYTES = 1 << 20;

    private final HostDevice device;
    private final String name;
    private final long handle;
    private final Thread thread;
    private final Command[] ring = new Command[CAPACITY];

    /** Written under the lock on {@code this}. */
    private volatile long enqueued;
    /** Written by {@link #thread} alone. */
    private volatile long completed;
    /** Whether {@link #thread} is parked, or about to check one last time before it parks. */
    private volatile boolean idle;
    /** Set once, under the lock on {@code this}; no command is put in afterwards. */
    private volatile boolean ending;

    private final Object progress = new Object();
    /** How many threads wait on {@link #progress}; written under its lock. */
    private volatile int waiting;

    CommandQueue(HostDevice device, String name, long handle) {
        this.device = device;
        this.name = name;
        this.handle = handle;
        for (int i = 0; i < CAPACITY; i++) {
            ring[i] = new Command();
        }
        this.thread = Thread.ofPlatform().daemon().name("penstock host stream " + name).unstarted(this);
        ThreadStart.start(thread, "a stream of the host device");
    }

    HostDevice device() {
        return device;
    }

    String name() {
        return name;
    }

    long handle() {
        return handle;
    }

    /** The position after all enqueued commands. */
    long enqueued() {
        return enqueued;
    }

    boolean hasCompleted(long position) {
        return completed >= position;
    }

    boolean isEnding() {
        return ending;
    }

    synchronized void enqueueCopy(MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long bytes) {
        free().copy(dst, dstOffset, src, srcOffset, bytes);
        publish();
    }

    synchronized void enqueueLaunch(Kernel kernel, MemorySegment arguments) {
        free().launch(kernel, arguments);
        publish();
    }

    synchronized void enqueueWait(CommandQueue other, long position) {
        free().await(other, position);
        publish();
    }

    /** Returns the position after the mark. */
    synchronized long enqueueMark(EventMark mark, long number) {
        free().mark(mark, number);
        publish();
        return enqueued;
    }

    /** The next free command of the ring; waits while all are queued. */
    private Command free() {
        if (ending) {
            throw new IllegalStateException("stream '" + name + "' is closed");
        }
        await(enqueued - CAPACITY + 1);
        return ring[(int) (enqueued & (CAPACITY - 1))];
    }

    private void publish() {
        enqueued = enqueued + 1;
        if (idle) {
            LockSupport.unpark(thread);
        }
    }

    /** Waits until the work up to a position has ended: spins for a moment, then sleeps. */
    void await(long position) {
        for (int spin = 0; spin < SPINS; spin++) {
            if (completed >= position) {
                return;
            }
            Thread.onSpinWait();
        }
        boolean interrupted = false;
        synchronized (progress) {
            waiting = waiting + 1;
            while (completed < position) {
                interrupted |= Uninterrupted.await(progress);
            }
            waiting = waiting - 1;
        }
        Uninterrupted.restore(interrupted);
    }

    /** Busy-waits until the work up to a position has ended. */
    void spin(long position) {
        for (int spin = 1; completed < position; spin++) {
            if (spin % SPINS == 0) {
                Thread.yield();
            }
            Thread.onSpinWait();
        }
    }

    /** Runs the queued commands and ends the thread. */
    void end() {
        synchronized (this) {
            ending = true;
        }
        LockSupport.unpark(thread);
        Uninterrupted.join(thread);
    }

    @Override
    public void run() {
        for (long next = 0; hasCommand(next); next++) {
            Command command = ring[(int) (next & (CAPACITY - 1))];
            try {
                if (!device.hasFault()) {
                    command.run();
                }
            } catch (Throwable t) {
                device.fail(t);
            }
            command.clear();
            completed = next + 1;
            if (waiting != 0) {
                synchronized (progress) {
                    progress.notifyAll();
                }
            }
        }
    }

    /** Waits for a command; false once the stream has ended and all commands have run. */
    private boolean hasCommand(long next) {
        for (int spin = 0; spin < SPINS; spin++) {
            if (enqueued > next) {
                return true;
            }
            Thread.onSpinWait();
        }
        idle = true;
        try {
            while (true) {
                boolean last = ending;          // read before enqueued: nothing is put in after the end
                if (enqueued > next) {
                    return true;
                }
                if (last) {
                    return false;
                }
                LockSupport.park(this);
            }
        } finally {
            idle = false;
        }
    }

    /** A copy, a kernel, a wait for another stream, or the mark of a timed event; reused each time round the ring. */
    private static final class Command {
        private @Nullable MemorySegment dst;
        private long dstOffset;
        private @Nullable MemorySegment src;
        private long srcOffset;
        private long bytes;
        private @Nullable Kernel kernel;
        /** Created by the first kernel in this place of the ring. */
        private @Nullable MemorySegment arguments;
        private @Nullable CommandQueue awaited;
        /** In the awaited queue, or the number of the mark. */
        private long position;
        private @Nullable EventMark mark;

        void copy(MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long bytes) {
            this.dst = dst;
            this.dstOffset = dstOffset;
            this.src = src;
            this.srcOffset = srcOffset;
            this.bytes = bytes;
        }

        void launch(Kernel kernel, MemorySegment source) {
            if (arguments == null) {
                arguments = MemorySegment.ofArray(new long[Kernel.MAX_ARGUMENT_BYTES / Long.BYTES]);
            }
            MemorySegment.copy(source, 0, arguments, 0, kernel.layout().byteSize());
            this.kernel = kernel;
        }

        void await(CommandQueue awaited, long position) {
            this.awaited = awaited;
            this.position = position;
        }

        void mark(EventMark reached, long number) {
            this.mark = reached;
            this.position = number;
        }

        void run() {
            if (mark != null) {
                mark.reached(position, System.nanoTime());
            } else if (awaited != null) {
                awaited.await(position);
            } else if (kernel != null) {
                kernel.twin().run(Objects.requireNonNull(arguments));
            } else {
                for (long done = 0; done < bytes; done += PIECE_BYTES) {
                    long piece = Math.min(PIECE_BYTES, bytes - done);
                    MemorySegment.copy(src, srcOffset + done, dst, dstOffset + done, piece);
                }
            }
        }

        /** Drops references to buffers and streams that may be closed by now. */
        void clear() {
            dst = null;
            src = null;
            kernel = null;
            awaited = null;
            mark = null;
        }
    }
}
