package io.penstock.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How far the Linux kernel reads ahead of whoever reads a file in order: a setting of the device. */
final class KernelReadAhead {

    private KernelReadAhead() {
    }

    /**
     * The most that the kernel reads ahead in one file.
     *
     * @return bytes; 0 where there is nothing that says so
     */
    static long bytes(Path file) {
        try {
            long device = ((Number) Files.getAttribute(file, "unix:dev")).longValue();
            String number = major(device) + ":" + minor(device);
            return Long.parseLong(Files.readString(Path.of("/sys/class/bdi", number, "read_ahead_kb")).strip()) << 10;
        } catch (IOException | RuntimeException _) {
            return 0;
        }
    }

    /** As {@code gnu_dev_major} of the C library has it. */
    private static long major(long device) {
        return device >>> 8 & 0xFFF | device >>> 32 & ~0xFFFL;
    }

    private static long minor(long device) {
        return device & 0xFF | device >>> 12 & 0xFFFFFF00L;
    }
}
