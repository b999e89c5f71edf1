package io.penstock.memory;

import io.penstock.os.ThreadStart;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Names what nobody can close any more: with the system property {@value #PROPERTY} set to {@code on}, a resource that
 * becomes unreachable without having been closed is named in the log, with the place where it was opened. All that
 * were opened at one place are named once. Nothing is freed here. Without the property nothing is noted.
 */
public final class Leak extends PhantomReference<Object> {

    /** Turns the search for leaks on. */
    public static final String PROPERTY = "penstock.leaks";

    private static final System.Logger LOG = System.getLogger(Leak.class.getName());
    private static final boolean ON = "on".equals(System.getProperty(PROPERTY));
    private static final ReferenceQueue<Object> UNREACHABLE = new ReferenceQueue<>();
    /** What is open: a reference that is itself unreachable would never be told of. */
    private static final Set<Leak> OPEN = ConcurrentHashMap.newKeySet();
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();
    private static final Leak NONE = new Leak(null, "", "", null);

    static {
        if (ON) {
            ThreadStart.start(Thread.ofPlatform().daemon().name("penstock-leaks").unstarted(Leak::tellAll),
                    "-D" + PROPERTY + "=on");
        }
    }

    private final String kind;
    private final Object name;
    /** Where it was opened. */
    private final @Nullable Throwable place;

    private Leak(@Nullable Object resource, String kind, Object name, @Nullable Throwable place) {
        super(resource, UNREACHABLE);
        this.kind = kind;
        this.name = name;
        this.place = place;
    }

    /**
     * Whether leaks are looked for.
     *
     * @return false unless the property is set
     */
    public static boolean isLookedFor() {
        return ON;
    }

    /**
     * Watches a resource from its opening on.
     *
     * @param resource what somebody has to close
     * @param kind what it is, for people: {@code loader}
     * @param name its name, for people; must not refer to the resource
     * @return to be told by {@link #closed}
     */
    public static Leak watch(Object resource, String kind, Object name) {
        if (!ON) {
            return NONE;
        }
        var leak = new Leak(resource, kind, name, new Throwable("opened here, by " + Thread.currentThread().getName()));
        OPEN.add(leak);
        return leak;
    }

    /** The resource is closed. Called first, while it is reachable still; calling it again does nothing. */
    public void closed() {
        if (ON) {
            OPEN.remove(this);
        }
    }

    private static void tellAll() {
        while (true) {
            try {
                ((Leak) UNREACHABLE.remove()).tell();
            } catch (InterruptedException _) {
                // It ends with the JVM.
            }
        }
    }

    private void tell() {
        if (!OPEN.remove(this)) {
            return;
        }
        var frames = new StringBuilder(kind);
        for (StackTraceElement frame : Objects.requireNonNull(place).getStackTrace()) {
            frames.append('\n').append(frame);
        }
        if (TOLD.add(frames.toString())) {
            LOG.log(System.Logger.Level.WARNING, kind + " " + name + " was not closed, and nothing refers to it any"
                    + " more: what it holds stays until the process ends", place);
        }
    }
}
