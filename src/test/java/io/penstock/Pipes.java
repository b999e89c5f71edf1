// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** FIFOs without a writer, and what opens them by mistake. */
public final class Pipes {

    private static final long HANG_SECONDS = 120;

    private Pipes() {
    }

    /** Makes a FIFO; whoever opens it for reading waits for ever. */
    public static Path make(Path path) throws IOException, InterruptedException {
        if (new ProcessBuilder("mkfifo", path.toString()).inheritIO().start().waitFor() != 0) {
            throw new IOException("mkfifo " + path + " failed");
        }
        return path;
    }

    /**
     * What a call gives, made by a thread of its own: one that waits for ever fails the test, and goes with the JVM.
     *
     * @throws Exception what the call throws
     */
    public static <T> T guarded(String what, Callable<T> call) throws Exception {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.ofPlatform().daemon().name("guarded-" + what).start(task);
        try {
            return task.get(HANG_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } catch (java.util.concurrent.TimeoutException e) {
            throw new AssertionError(what + " waits for ever", e);
        }
    }
}
