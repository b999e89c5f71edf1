// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The memory of the machine or of its container. */
public final class Machine {
    public static long totalMemoryBytes() {
        return system().getTotalMemorySize();
    }

    /** {@return the bytes of memory that nothing uses, not even the page cache} */
    public static long freeMemoryBytes() {
        return system().getFreeMemorySize();
    }

    private static OperatingSystemMXBean system() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    }
}
