package io.penstock.device;

import java.util.List;

/**
 * What a {@link DeviceProvider} found: its devices, or why there are none, and over which library they work.
 *
 * @param kind the kind of the devices
 * @param devices the devices, in the order of their numbers
 * @param library the file of the runtime library, empty if none was loaded or none is needed
 * @param runtimeVersion the version of that library, such as {@code 13.0}, or empty
 * @param driverVersion the newest runtime that the driver supports, such as {@code 13.0}, or empty without a driver
 * @param unavailable why devices of this kind cannot be used, or null if they can
 * @param message the same in words, with what to do; empty if they can be used
 */
public record DeviceSupport(
        String kind, List<DeviceInfo> devices, String library, String runtimeVersion, String driverVersion,
        DeviceUnavailableException.Reason unavailable, String message) {
    /** Copies the devices. */
    public DeviceSupport {
        devices = List.copyOf(devices);
    }

    /**
     * Whether at least one device of this kind can be used.
     *
     * @return true if {@link #unavailable()} is null
     */
    public boolean isUsable() {
        return unavailable == null;
    }
}
