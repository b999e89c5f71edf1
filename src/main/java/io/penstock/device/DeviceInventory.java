package io.penstock.device;

import io.penstock.device.cuda.CudaInspection;
import io.penstock.device.host.HostInspection;
import java.util.ArrayList;
import java.util.List;

/**
 * The devices of this machine, and why there are no CUDA devices among them if there are none.
 *
 * @param devices the host, then the CUDA devices in the order of their numbers
 * @param cuda whether CUDA can be used
 */
public record DeviceInventory(List<DeviceInfo> devices, CudaSupport cuda) {
    /**
     * An inventory.
     *
     * @param devices the devices, which are copied
     * @param cuda whether CUDA can be used
     */
    public DeviceInventory {
        devices = List.copyOf(devices);
    }

    /**
     * Looks at what there is. To ask a GPU for its free memory starts CUDA on it, which takes a moment, and keeps
     * some of its memory until the process ends.
     *
     * @return what was found; that CUDA cannot be used is a finding, not an error
     */
    public static DeviceInventory take() {
        List<DeviceInfo> devices = new ArrayList<>();
        devices.add(HostInspection.host());
        CudaSupport cuda = CudaInspection.inspect(devices);
        return new DeviceInventory(devices, cuda);
    }
}
