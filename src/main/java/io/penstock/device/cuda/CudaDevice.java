package io.penstock.device.cuda;

import io.penstock.device.Device;
import io.penstock.device.DeviceUnavailableException;

/** Opens CUDA devices. */
public final class CudaDevice {
    private CudaDevice() {
    }

    /**
     * Opens a CUDA device.
     *
     * @param ordinal its number
     * @return the device
     * @throws DeviceUnavailableException always, for now
     */
    public static Device open(int ordinal) {
        throw new DeviceUnavailableException(DeviceUnavailableException.Reason.NO_RUNTIME,
                "cuda:" + ordinal + ": this build holds no CUDA device yet", null);
    }
}
