// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import io.penstock.error.LimitException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Starts threads, with a plain message if the OS cannot. */
public final class ThreadStart {

    /**
     * Starts a thread. A {@link LimitException} names the thread, its purpose {@code what}, such as {@code worker
     * 3 of 8}, and the limit.
     */
    public static void start(Thread thread, String what) {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            throw LimitException.ofMachine(thread.getName() + ": no thread can be started for " + what + limit(), e);
        }
    }

    /** Tells whether an error means that a thread could not be started, and not that the heap is full. */
    public static boolean isRefusedBy(OutOfMemoryError error) {
        return error.getMessage() != null && error.getMessage().contains("native thread");
    }

    /** {@return the limit of threads as the end of a message, with the number if the OS tells it} */
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
