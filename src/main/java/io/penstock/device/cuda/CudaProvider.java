package io.penstock.device.cuda;

import io.penstock.device.Device;
import io.penstock.device.DeviceProvider;
import io.penstock.device.DeviceSupport;

/** The GPUs that CUDA's runtime library gives. */
public final class CudaProvider implements DeviceProvider {
    static final String KIND = "cuda";

    /** For the service loader. CUDA is looked for with the first device. */
    public CudaProvider() {
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public Device open(int ordinal) {
        return CudaDevice.open(ordinal);
    }

    @Override
    public DeviceSupport inspect() {
        return CudaInspection.inspect();
    }
}
