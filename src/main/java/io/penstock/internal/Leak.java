// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import io.penstock.os.ThreadStart;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Logs resources that became unreachable without being closed, if the system property {@value #PROPERTY} is {@code on}.
 * Each log entry has the place where the resource was opened, and each place is logged once. Nothing is freed here.
 * Without the property nothing is tracked.
 */
public final class Leak extends PhantomReference<Object> {

    /** The system property that turns leak detection on. */
    public static final String PROPERTY = "penstock.leaks";

    private static final System.Logger LOG = System.getLogger(Leak.class.getName());
    private static final boolean ON = "on".equals(System.getProperty(PROPERTY));
    private static final ReferenceQueue<Object> UNREACHABLE = new ReferenceQueue<>();
    /** The open resources: an unreachable reference would never be enqueued. */
    private static final Set<Leak> OPEN = ConcurrentHashMap.newKeySet();
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();
    private static final Leak NONE = new Leak(null, "", "", null);

    static {
        if (ON) {
            ThreadStart.start(Thread.ofPlatform().daemon().name("penstock-leaks").unstarted(Leak::reportAll),
                    "-D" + PROPERTY + "=on");
        }
    }

    private final String kind;
    private final Object name;
    /** Where the resource was opened. */
    private final @Nullable Throwable place;

    private Leak(@Nullable Object resource, String kind, Object name, @Nullable Throwable place) {
        super(resource, UNREACHABLE);
        this.kind = kind;
        this.name = name;
        this.place = place;
    }

    public static boolean isLookedFor() {
        return ON;
    }

    /**
     * Watches a resource that its owner must close, until {@link #closed}.
     *
     * @param kind the kind of resource, for the log: {@code loader}
     * @param name its name, for the log; must not refer to the resource
     */
    public static Leak watch(Object resource, String kind, Object name) {
        if (!ON) {
            return NONE;
        }
        var leak = new Leak(resource, kind, name, new Throwable("opened here, by " + Thread.currentThread().getName()));
        OPEN.add(leak);
        return leak;
    }

    /**
     * Ends the watch. Call this first in {@code close}, while the resource is still reachable. Further calls do
     * nothing.
     */
    public void closed() {
        if (ON) {
            OPEN.remove(this);
        }
    }

    private static void reportAll() {
        while (true) {
            try {
                ((Leak) UNREACHABLE.remove()).report();
            } catch (InterruptedException _) {
                // The thread ends with the JVM.
            }
        }
    }

    private void report() {
        if (!OPEN.remove(this)) {
            return;
        }
        var frames = new StringBuilder(kind);
        for (StackTraceElement frame : Objects.requireNonNull(place).getStackTrace()) {
            frames.append('\n').append(frame);
        }
        if (TOLD.add(frames.toString())) {
            LOG.log(System.Logger.Level.WARNING, kind + " " + name + " was not closed and is unreachable:"
                    + " its resources stay allocated until the process ends", place);
        }
    }
}
