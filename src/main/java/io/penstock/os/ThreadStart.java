// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Starts threads, and says in plain words when the OS has no more. */
public final class ThreadStart {

    private ThreadStart() {
    }

    /**
     * Starts a thread.
     *
     * @param what what it is needed for: {@code worker 3 of 8}
     * @throws ThreadLimitException if the OS has no more threads; names the thread, what it is for, and the limit
     */
    public static void start(Thread thread, String what) {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            throw new ThreadLimitException(thread.getName() + ": no thread can be started for " + what + limit(), e);
        }
    }

    /**
     * Whether an error says that a thread could not be started, and not that the heap is full.
     *
     * @param error any error
     * @return true if so
     */
    public static boolean isRefusedBy(OutOfMemoryError error) {
        return error.getMessage() != null && error.getMessage().contains("native thread");
    }

    /** {@return what limits the threads, as the end of a message, with the number where the OS tells it} */
    public static String limit() {
        String reason = ": the limit of threads (ulimit -u, or the container's) or of memory is reached";
        try {
            String limits = Files.readString(Path.of("/proc/self/limits"));
            return reason + limits.lines().filter(line -> line.startsWith("Max processes")).findFirst()
                    .map(line -> "; ulimit -u is " + line.split("\\s{2,}")[1]).orElse("");
        } catch (IOException | RuntimeException _) {
            return reason;
        }
    }
}
