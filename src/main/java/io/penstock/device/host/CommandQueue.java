package io.penstock.device.host;

import io.penstock.device.Kernel;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread of one stream, and the ring of commands that it runs.
 *
 * <p><b>Positions.</b> Commands are numbered from 0. {@code enqueued} counts those put in, {@code completed} those that
 * have run, so work up to position {@code p} has ended exactly when {@code completed >= p}. That is all an event
 * needs: to record is to note the count at that time, and no command runs for it.
 *
 * <p><b>Assumptions.</b> A command waits only for a position that was reached by {@code enqueued} before the command
 * was put in; so no cycle of waits can arise, and every queue gets on.
 *
 * <p><b>Guarantees.</b> Commands run in the order of enqueueing. What a thread wrote before it enqueued a command is
 * visible to the command; what commands wrote is visible to a thread that has seen their position complete.
 * Enqueueing and waiting allocate nothing.
 */
final class CommandQueue implements Runnable {
    /** A power of two. */
    static final int CAPACITY = 1024;
    /** Some microseconds: about what it takes to park a thread and wake it. */
    private static final int SPINS = 512;
    /** A copy is not interrupted for a safepoint, so a large one is done in pieces of some tens of microseconds. */
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
    /** Whether {@link #thread} is parked, or about to look for the last time before it parks. */
    private volatile boolean idle;
    /** Set once, under the lock on {@code this}: no command is put in after it. */
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

    /** The position behind all that has been enqueued. */
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

    /** The next command of the ring to fill; waits while all are queued. */
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

    /** Waits until the work up to a position has ended without sleeping. */
    void spin(long position) {
        for (int spin = 1; completed < position; spin++) {
            if (spin % SPINS == 0) {
                Thread.yield();
            }
            Thread.onSpinWait();
        }
    }

    /** Runs what is queued and ends the thread. */
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
                boolean last = ending;          // read before enqueued: after the end nothing is put in
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

    /** A copy, a kernel, or a wait for another stream; filled anew each time round the ring. */
    private static final class Command {
        private MemorySegment dst;
        private long dstOffset;
        private MemorySegment src;
        private long srcOffset;
        private long bytes;
        private Kernel kernel;
        /** Made with the first kernel that comes to this place in the ring. */
        private MemorySegment arguments;
        private CommandQueue awaited;
        private long position;

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

        void run() {
            if (awaited != null) {
                awaited.await(position);
            } else if (kernel != null) {
                kernel.twin().run(arguments);
            } else {
                for (long done = 0; done < bytes; done += PIECE_BYTES) {
                    long piece = Math.min(PIECE_BYTES, bytes - done);
                    MemorySegment.copy(src, srcOffset + done, dst, dstOffset + done, piece);
                }
            }
        }

        /** Lets go of buffers and streams that are closed meanwhile. */
        void clear() {
            dst = null;
            src = null;
            kernel = null;
            awaited = null;
        }
    }
}
