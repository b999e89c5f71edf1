// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The Linux kernel's read-ahead for sequential reads, a setting of the device. */
final class KernelReadAhead {

    /** {@return the most bytes that the kernel reads ahead in a file; 0 if unknown} */
    static long bytes(Path file) {
        try {
            long device = ((Number) Files.getAttribute(file, "unix:dev")).longValue();
            String number = major(device) + ":" + minor(device);
            return Long.parseLong(Files.readString(Path.of("/sys/class/bdi", number, "read_ahead_kb")).strip()) << 10;
        } catch (IOException | RuntimeException _) {
            return 0;
        }
    }

    /** Same as {@code gnu_dev_major} of the C library. */
    private static long major(long device) {
        return device >>> 8 & 0xFFF | device >>> 32 & ~0xFFFL;
    }

    private static long minor(long device) {
        return device & 0xFF | device >>> 12 & 0xFFFFFF00L;
    }
}
