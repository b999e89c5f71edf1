// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.Device;
import io.penstock.device.DeviceInventory.DeviceInfo;
import io.penstock.device.DeviceInventory.DeviceSupport;
import io.penstock.device.DeviceProvider;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.DeviceUnavailableException.Reason;
import io.penstock.os.Machine;
import java.util.List;

/** The one host device. A container's limits count as the machine's. */
public final class HostProvider implements DeviceProvider {
    private static final String KIND = "host";

    /** For the service loader. */
    public HostProvider() {
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public Device open(int ordinal) {
        if (ordinal != 0) {
            throw new DeviceUnavailableException(
                    Reason.NO_SUCH_DEVICE, "there is no host:" + ordinal + ": host is the only device", null);
        }
        return new HostDevice();
    }

    @Override
    public DeviceSupport inspect() {
        int processors = Runtime.getRuntime().availableProcessors();
        var host = new DeviceInfo(KIND,
                System.getProperty("os.arch") + ", " + processors + (processors == 1 ? " processor" : " processors"),
                "", Machine.totalMemoryBytes(), Machine.freeMemoryBytes(), -1, -1, "", "");
        return new DeviceSupport(KIND, List.of(host), "", "", "", null, "");
    }
}
