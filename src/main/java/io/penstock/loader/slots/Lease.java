// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.DeviceStream;
import io.penstock.internal.Leak;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One lease on the batch in a slot: who took it, the streams that use it, and what keeps the slot: the lease itself,
 * until it is closed, and every {@linkplain #hold hold} on it.
 */
public final class Lease implements AutoCloseable {

    /** The most streams that one batch may be used on. */
    public static final int MAX_STREAMS = 4;

    private static final DeviceStream[] NO_STREAMS = {};
    private static final VarHandle CLOSED;
    private static final VarHandle HOLDS;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(Lease.class, "closed", boolean.class);
            HOLDS = MethodHandles.lookup().findVarHandle(Lease.class, "holds", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final BatchHolder holder;
    private long sequence;
    /** The thread that took the batch; null if any thread may close it. */
    private @Nullable Thread taker;
    private volatile boolean closed;
    /** What keeps the slot from being given back: this lease, and every DLPack tensor that is out. */
    private volatile int holds;
    /** Whether this lease is over. Used by the closing thread. */
    private boolean released;
    private boolean givenToNativeCode;
    private byte streamCount;
    /** Opened with the first view that is handed out. Guarded by the monitor if any thread may ask for one. */
    private @Nullable Arena views;
    private DeviceStream[] streams = NO_STREAMS;
    /** Watches what the trainer holds, if leak detection is on. */
    private @Nullable Leak leak;

    /** Creates a lease that has not begun. */
    public Lease(BatchHolder holder) {
        this.holder = holder;
    }

    /** Begins a lease: the only one of this batch, unless leases are reused. Called by the thread that takes it. */
    public void begin(long ofSequence) {
        sequence = ofSequence;
        taker = holder.terms.anyThread() ? null : Thread.currentThread();
        released = false;
        givenToNativeCode = false;
        streamCount = 0;
        HOLDS.set(this, 1);
        CLOSED.setRelease(this, false);
    }

    /** Returns the batch, for its readers. */
    public BatchHolder open() {
        if (closed) {
            throw new IllegalStateException("the batch is closed");
        }
        return holder;
    }

    public boolean isReused() {
        return holder.terms.reused();
    }

    /** Ends a watch when the lease is closed. */
    public void watchedBy(Leak watch) {
        leak = watch;
    }

    /** Notes that native code was given an address in the batch. */
    public void setGivenToNativeCode() {
        givenToNativeCode = true;
    }

    public boolean isGivenToNativeCode() {
        return givenToNativeCode;
    }

    /**
     * Announces that work on a stream reads the batch. The stream is made to wait for the batch's bytes; what is
     * enqueued there up to {@link #close} ends before the slot is reused.
     *
     * @throws IllegalArgumentException if the stream is another device's
     * @throws IllegalStateException if the batch is closed, or used on more than {@value #MAX_STREAMS} streams
     */
    public void usedOn(DeviceStream stream) {
        open();
        for (int i = 0; i < streamCount; i++) {
            if (streams[i] == stream) {
                return;
            }
        }
        boolean known = isUsedOnStreamWith(stream.handle());
        if (streamCount == MAX_STREAMS && !known) {
            throw new IllegalStateException("batch " + holder.plan.number() + " is used on too many streams, expected"
                    + " at most " + MAX_STREAMS);
        }
        holder.lender.makeWait(this, stream);
        if (!known) {
            addStream(stream);
        }
    }

    /**
     * Returns whether the lease knows this stream already, perhaps as another object: recording its event twice is
     * useless.
     */
    private boolean isUsedOnStreamWith(long handle) {
        for (int i = 0; i < streamCount; i++) {
            if (streams[i].handle() == handle) {
                return true;
            }
        }
        return false;
    }

    /** Adds a stream that already waits for the bytes. */
    void addStream(DeviceStream stream) {
        if (streams == NO_STREAMS) {
            streams = new DeviceStream[MAX_STREAMS];
        }
        streams[streamCount++] = stream;
    }

    /**
     * Closes the lease and gives the slot back, at once or, if DLPack tensors of the batch are out, when the last of
     * them is deleted. Calling it again does nothing.
     *
     * @throws WrongThreadException if the batch belongs to another thread; it stays open
     * @throws IllegalStateException if the batch is used on a stream of a GPU and this is a virtual thread, or if
     *     another thread is inside a native call with one of its tensors; it stays open
     * @throws RuntimeException if a stream that uses the batch was closed before it, or the device reports an error;
     *     the batch is closed, and a loader that copies to a device has failed
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        checkThread();
        if (!CLOSED.compareAndSet(this, false, true)) {
            return;
        }
        try {
            Arena opened = openedViews();
            if (opened != null) {
                opened.close();
                views = null;
            }
            holder.lender.release(this);
        } catch (RuntimeException | Error e) {
            closed = released;
            throw e;
        }
        if (leak != null) {
            leak.closed();
        }
    }

    /** Ends the lease. Called by the lender, on the closing thread. */
    public void released() {
        released = true;
        letGo(false);
    }

    /** Keeps the slot from being given back. */
    public void hold() {
        int held = holds;
        while (held > 0 && !HOLDS.compareAndSet(this, held, held + 1)) {
            held = holds;
        }
        if (held == 0) {
            throw new IllegalStateException("the batch is closed");
        }
        if (closed) {
            letGo(false);
            throw new IllegalStateException("the batch is closed");
        }
    }

    /** Ends a hold; the end of the last one returns the slot. */
    public void letGo(boolean inDeleter) {
        if ((int) HOLDS.getAndAdd(this, -1) == 1) {
            holder.lender.giveBack(this, inDeleter);
        }
    }

    public BatchHolder holder() {
        return holder;
    }

    public Lender lender() {
        return holder.lender;
    }

    public long sequence() {
        return sequence;
    }

    public int streamCount() {
        return streamCount;
    }

    DeviceStream stream(int i) {
        return streams[i];
    }

    /** Whether the calling thread took the batch and is the one to close it. */
    boolean belongsToCaller() {
        return !closed && taker == Thread.currentThread();
    }

    boolean isClosed() {
        return closed;
    }

    /** Fails if the CPU can read the batch and another thread has it. */
    public void checkThread() {
        if (holder.isReadable() && taker != null && taker != Thread.currentThread()) {
            throw new WrongThreadException("the batch belongs to thread " + taker.getName() + ", found "
                    + Thread.currentThread().getName() + "; use LeaseMode.SHARED to pass batches between threads");
        }
    }

    /** Returns the scope whose end invalidates every view that was handed out, whatever happens to the slot. */
    public Arena views() {
        if (holder.terms.anyThread()) {
            return sharedViews();
        }
        if (views == null) {
            views = Arena.ofConfined();
        }
        return views;
    }

    /** Several threads may ask at once, also while one closes the batch: all views must end with the same scope. */
    private synchronized Arena sharedViews() {
        open();
        if (views == null) {
            views = Arena.ofShared();
        }
        return views;
    }

    /** Returns the scope of the views; null if none was handed out. Called once the lease counts as closed. */
    private @Nullable Arena openedViews() {
        if (!holder.terms.anyThread()) {
            return views;
        }
        synchronized (this) {
            return views;
        }
    }

    /** Works at any time, as messages about forgotten batches need it to. */
    @Override
    public String toString() {
        return holds == 0 ? "batch (closed)" : "batch " + holder.plan.number() + " of epoch " + holder.plan.epoch()
                + (givenToNativeCode ? ", given to native code" : "");
    }
}
