// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.internal;

import io.penstock.device.Device;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;

/**
 * Runs what needs a current device, for a caller that may have another one current, or captures a graph: the caller's
 * current device stays as it is, and a capture on any thread goes on.
 */
public final class DeviceThread {

    private DeviceThread() {
    }

    /**
     * Runs work on a thread of its own that is {@linkplain Device#dedicateThread dedicated} to a device, waits for its
     * end, and throws what it threw.
     *
     * @param what names the work in messages, and the thread
     */
    public static void run(Device device, String what, Runnable work) {
        Throwable[] error = new Throwable[1];
        Thread thread = Thread.ofPlatform().name("penstock " + device.name() + " " + what).daemon().unstarted(() -> {
            try {
                device.dedicateThread();
                work.run();
            } catch (RuntimeException | Error e) {
                error[0] = e;
            }
        });
        ThreadStart.start(thread, what);
        Uninterrupted.join(thread);
        switch (error[0]) {
            case null -> { }
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new AssertionError(error[0]);
        }
    }
}
