// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.device.DeviceInventory.DeviceSupport;
import java.util.ServiceLoader;

/**
 * One kind of device. {@link ServiceLoader} finds providers in the class loader of this interface: a module declares
 * {@code provides DeviceProvider with …}, a jar on the class path has the file
 * {@code META-INF/services/io.penstock.device.DeviceProvider}. A provider has a public no-argument constructor that
 * cannot fail.
 *
 * <p>The host and CUDA are two such providers. No other class refers to either.
 */
public interface DeviceProvider {
    /** {@return the kind of device in lower-case letters, the prefix of its name: {@code cuda} in {@code cuda:0}} */
    String kind();

    /**
     * Opens a device.
     *
     * @param ordinal the index among the devices of this kind visible to this process
     * @return a new device, which the caller closes
     * @throws IllegalArgumentException if the ordinal is negative
     * @throws DeviceUnavailableException if it cannot be used; the message says why and how to fix it
     */
    Device open(int ordinal);

    /**
     * Inspects the devices. Asking a device for its free memory may initialize it, which takes a moment.
     *
     * @return the devices found; having none is a finding, not an error
     */
    DeviceSupport inspect();
}
