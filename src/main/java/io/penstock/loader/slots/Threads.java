package io.penstock.loader.slots;

import io.penstock.os.Uninterrupted;
import java.time.Duration;

/** What a loader asks of threads. */
public final class Threads {

    private Threads() {
    }

    /** Runs a task on a platform thread, which CUDA calls need: this one, unless it is virtual. */
    static void runOnPlatformThread(Runnable task) {
        if (!Thread.currentThread().isVirtual()) {
            task.run();
            return;
        }
        var closing = new Closing();
        Uninterrupted.join(Thread.ofPlatform().start(() -> closing.step(task)));
        closing.end();
    }

    /** A time in nanoseconds; the longest that there is, if it is longer. */
    public static long nanos(Duration time) {
        return time.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? Long.MAX_VALUE : time.toNanos();
    }
}
