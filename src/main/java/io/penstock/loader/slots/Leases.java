// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.dlpack.DLPackCapsule;
import io.penstock.internal.Closing;
import io.penstock.os.Uninterrupted;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts a loader's leases, and the workers that it abandoned, and frees what they use after the last of them: when the
 * loader is closed, or later.
 */
public final class Leases {

    private static final System.Logger LOG = System.getLogger(Leases.class.getName());
    /** Added to the number of open leases when the loader is closed. */
    private static final int CLOSING = 1 << 30;

    private final String name;
    private final LoaderFailure failure;
    private final AtomicInteger leases = new AtomicInteger();
    private final Runnable freeing;

    /** Counts the leases of one loader; {@code freeing} frees what leases use. */
    public Leases(String name, LoaderFailure failure, Runnable freeing) {
        this.name = name;
        this.failure = failure;
        this.freeing = freeing;
    }

    /**
     * Counts a lease before it exists, so that a concurrent close does not free its memory. After the close, no lease
     * begins.
     */
    public void begin() {
        if (leases.getAndUpdate(n -> n < CLOSING ? n + 1 : n) >= CLOSING) {
            throw new IllegalStateException("the loader is closed");
        }
    }

    /**
     * Notes that a lease is over and its slot free. Never blocks: native code calls this in the deleter of a DLPack
     * tensor.
     */
    public void ended(boolean inDeleter) {
        if (leases.decrementAndGet() == CLOSING) {
            if (inDeleter) {
                Thread.ofPlatform().name(name + "-free").daemon(false).start(this::freeLate);
            } else {
                freeOnPlatformThread();
            }
        }
    }

    /**
     * Begins no more leases, ends those that the calling thread forgot, names all open ones, and frees everything if
     * there are none. Adds its errors to the failure, if there is one; throws them otherwise.
     */
    public void close(Closing closing, List<BatchHolder> holders) {
        List<Forgotten> forgotten = new ArrayList<>();
        for (BatchHolder holder : holders) {
            closing.step(() -> closeForgotten(holder.lent, forgotten));
        }
        if (!forgotten.isEmpty()) {
            closing.step(() -> warn(forgotten));
        }
        if (leases.addAndGet(CLOSING) == CLOSING) {
            closing.step(this::free);
        }
        end(closing);
    }

    /** A batch that was open when its loader closed, and its text from before it was closed. */
    private record Forgotten(Lease lease, String text) {
    }

    private void closeForgotten(@Nullable Lease batch, List<Forgotten> forgotten) {
        if (batch == null) {
            return;
        }
        if (batch.isClosed()) {                         // or is being closed by another thread
            if (DLPackCapsule.live() > 0) {
                LOG.log(System.Logger.Level.INFO, "{0}: DLPack tensors of {1} are still in use; its memory is kept"
                        + " until they are deleted", name, batch);
            }
            return;
        }
        forgotten.add(new Forgotten(batch, batch.toString()));
        if (batch.belongsToCaller()) {
            batch.close();
        }
    }

    /** Frees everything on a platform thread, which CUDA calls need: on this one, unless it is virtual. */
    private void freeOnPlatformThread() {
        if (!Thread.currentThread().isVirtual()) {
            free();
            return;
        }
        var closing = new Closing();
        Uninterrupted.join(Thread.ofPlatform().start(() -> closing.step(this::free)));
        closing.end();
    }

    /** Logs one warning for all open leases. */
    private void warn(List<Forgotten> forgotten) {
        long kept = forgotten.stream().filter(batch -> !batch.lease.isClosed()).count();
        LOG.log(System.Logger.Level.WARNING, "{0}: {1}{2} not closed before {3} loader{4}", name,
                forgotten.getFirst().text,
                forgotten.size() == 1 ? " was" : " and " + (forgotten.size() - 1) + " more batches were",
                forgotten.size() == 1 ? "its" : "their", kept == 0 ? ""
                        : forgotten.size() == 1 ? "; its memory is kept until it is closed"
                        : "; the memory of " + kept + " is kept until they are closed");
    }

    /** Frees on behalf of native code or of a worker, which an error cannot be thrown to: it is logged. */
    private void freeLate() {
        try {
            free();
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, name + ": cannot free memory that was kept after the loader closed", e);
        }
    }

    private void free() {
        end(new Closing().step(freeing));
    }

    /**
     * Ends the freeing. After a failure the device repeats its error at every call: repeated errors count as that one.
     */
    private void end(Closing closing) {
        if (!failure.isSet()) {
            closing.end();
            return;
        }
        Throwable later = closing.error();
        if (later != null) {
            failure.add(later);
        }
    }
}
