// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Holds a loader to its rule that one thread at a time takes batches and moves it: a second one gets an error that
 * names the first. Exchanges a number, which costs less than a reference with its write barrier.
 */
final class OneThread {

    private static final long NOBODY = 0;

    /** The id of the thread that is in the loader. */
    private final AtomicLong inside = new AtomicLong(NOBODY);
    /** The thread that entered last; written by it once it is inside. */
    private volatile @Nullable Thread last;

    /** Enters; {@link #leave} follows. Throws {@link IllegalStateException} if a thread is inside. */
    void enter() {
        Thread caller = Thread.currentThread();
        if (!inside.compareAndSet(NOBODY, caller.threadId())) {
            throw new IllegalStateException("found two threads in one loader: " + caller.getName() + " called it while "
                    + name() + " was taking a batch or seeking, expected one thread at a time");
        }
        if (last != caller) {
            last = caller;
        }
    }

    /** Returns the name of the thread that is inside, or was inside last. */
    private String name() {
        Thread known = last;
        for (long id = inside.get(); id != NOBODY && (known == null || known.threadId() != id); id = inside.get()) {
            Thread.onSpinWait();
            known = last;
        }
        return known == null ? "another" : known.getName();
    }

    void leave() {
        inside.setRelease(NOBODY);
    }
}
