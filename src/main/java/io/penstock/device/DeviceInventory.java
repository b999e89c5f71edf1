// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import java.util.List;

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
}
