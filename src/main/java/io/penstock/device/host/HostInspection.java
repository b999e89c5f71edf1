package io.penstock.device.host;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.device.DeviceInfo;
import java.lang.management.ManagementFactory;

/** What the host device has. */
public final class HostInspection {
    private HostInspection() {
    }

    /**
     * Looks at the host; a container's limits are taken for what the machine has.
     *
     * @return the host as a device
     */
    public static DeviceInfo host() {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        int processors = Runtime.getRuntime().availableProcessors();
        return new DeviceInfo("host",
                System.getProperty("os.arch") + ", " + processors + (processors == 1 ? " processor" : " processors"),
                "", system.getTotalMemorySize(), system.getFreeMemorySize(), -1, -1, "", "");
    }
}
