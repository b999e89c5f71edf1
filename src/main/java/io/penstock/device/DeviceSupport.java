// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link DeviceProvider} found: its devices or why there are none, and its runtime library.
 *
 * @param kind the kind of device
 * @param devices the devices, by ordinal
 * @param library the path of the runtime library, empty if none was loaded or needed
 * @param runtimeVersion the library's version, such as {@code 13.0}, or empty
 * @param driverVersion the newest runtime that the driver supports, such as {@code 13.0}, or empty without a driver
 * @param unavailable why devices of this kind cannot be used, or null if they can
 * @param message the same in words and how to fix it; empty if they can be used
 */
public record DeviceSupport(
        String kind, List<DeviceInfo> devices, String library, String runtimeVersion, String driverVersion,
        DeviceUnavailableException.@Nullable Reason unavailable, String message) {
    /** Copies the devices. */
    public DeviceSupport {
        devices = List.copyOf(devices);
    }

    /** {@return whether at least one device of this kind can be used: {@link #unavailable()} is null} */
    public boolean isUsable() {
        return unavailable == null;
    }
}
