// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.device.Device;
import io.penstock.device.DeviceUnavailableException;

/** The device that {@code --device} selects, and why. Closing it closes the device. */
record ChosenDevice(Device device, String reason) implements AutoCloseable {

    static ChosenDevice of(String name) {
        if (!name.equals("auto")) {
            return new ChosenDevice(Device.open(name), "as requested");
        }
        try {
            return new ChosenDevice(Device.cuda(0), "the first CUDA device");
        } catch (DeviceUnavailableException _) {
            return new ChosenDevice(Device.host(), "no CUDA device; 'penstock devices' says why");
        }
    }

    /** The device as text: {@code host (as requested)}. */
    @Override
    public String toString() {
        return device.name() + " (" + reason + ")";
    }

    @Override
    public void close() {
        device.close();
    }
}
