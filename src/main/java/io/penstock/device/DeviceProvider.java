package io.penstock.device;

import java.util.ServiceLoader;

/**
 * One kind of device. Providers are found by {@link ServiceLoader}, in the class loader of this interface: a module
 * says {@code provides DeviceProvider with …}, a jar on the class path has a file
 * {@code META-INF/services/io.penstock.device.DeviceProvider}. They have a public constructor without arguments, which
 * does nothing that can fail.
 *
 * <p>The host and CUDA are two such providers. No other class knows either.
 */
public interface DeviceProvider {
    /**
     * The kind of the devices.
     *
     * @return what a device's name starts with, such as {@code cuda} for {@code cuda:0}; lower-case letters
     */
    String kind();

    /**
     * Opens a device.
     *
     * @param ordinal its number among those of this kind that are visible to this process
     * @return a new device, which the caller closes
     * @throws IllegalArgumentException if the number is negative
     * @throws DeviceUnavailableException if it cannot be used; the message says why, and what to do
     */
    Device open(int ordinal);

    /**
     * Looks for devices. To ask a device for its free memory may start it, which takes a moment.
     *
     * @return what was found; that there is none is a finding, not an error
     */
    DeviceSupport inspect();
}
