// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.device.DeviceInventory.DeviceInfo;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The devices of this machine; for each kind without devices, the reason.
 *
 * @param kinds what each provider found, the host's first
 */
public record DeviceInventory(List<DeviceSupport> kinds) {
    /** Copies the list. */
    public DeviceInventory {
        kinds = List.copyOf(kinds);
    }

    /**
     * Inspects the machine. Asking a GPU for its free memory initializes CUDA on it, which takes a moment and holds
     * some of its memory until the process ends.
     *
     * @return the devices found; an unusable CUDA is a finding, not an error
     */
    public static DeviceInventory take() {
        return new DeviceInventory(DeviceProviders.find().all().stream().map(DeviceProvider::inspect).toList());
    }

    /** {@return all devices: the host, then those of other kinds by ordinal} */
    public List<DeviceInfo> devices() {
        return kinds.stream().flatMap(kind -> kind.devices().stream()).toList();
    }

    /**
     * The devices of one kind.
     *
     * @param kind such as {@code cuda}
     * @return the devices, or why there are none
     * @throws IllegalArgumentException if no provider has this kind
     */
    public DeviceSupport kind(String kind) {
        return kinds.stream().filter(found -> found.kind().equals(kind)).findFirst().orElseThrow(
                () -> new IllegalArgumentException("no provider for device '" + kind + "'"));
    }

    /**
     * What is known about a device before it is opened. If a property does not apply or cannot be read, a string is
     * empty and a number is -1.
     *
     * @param name the name for {@link Device#open(String)}
     * @param model the product's name, such as {@code NVIDIA H200}; for the host, its architecture and processor count
     * @param computeCapability the GPU's instruction set, such as {@code 9.0}
     * @param memoryTotalBytes total memory
     * @param memoryFreeBytes free memory
     * @param copyEngines how many copies it can run at once, beside kernels; with 2, one in each direction
     * @param hostNumaNode the nearest NUMA node of the host
     * @param pciBusId its PCI address, such as {@code 0000:3B:00.0}
     * @param problem why something could not be read
     */
    public record DeviceInfo(
            String name, String model, String computeCapability, long memoryTotalBytes, long memoryFreeBytes,
            int copyEngines, int hostNumaNode, String pciBusId, String problem) {
    }

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
}
