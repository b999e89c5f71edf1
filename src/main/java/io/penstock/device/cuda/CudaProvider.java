// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import io.penstock.device.Device;
import io.penstock.device.DeviceInventory.DeviceSupport;
import io.penstock.device.DeviceProvider;

/** Provides the GPUs of the CUDA runtime. */
public final class CudaProvider implements DeviceProvider {
    static final String KIND = "cuda";

    /** For the service loader. The first use of a device searches for CUDA. */
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
