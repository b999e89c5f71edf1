package io.penstock.device;

import java.util.List;

/**
 * The devices of this machine, and why there are none of a kind if there are none.
 *
 * @param kinds what each provider found, the host's first
 */
public record DeviceInventory(List<DeviceSupport> kinds) {
    /** Copies what was found. */
    public DeviceInventory {
        kinds = List.copyOf(kinds);
    }

    /**
     * Looks at what there is. To ask a GPU for its free memory starts CUDA on it, which takes a moment, and keeps
     * some of its memory until the process ends.
     *
     * @return what was found; that CUDA cannot be used is a finding, not an error
     */
    public static DeviceInventory take() {
        return new DeviceInventory(DeviceProviders.find().all().stream().map(DeviceProvider::inspect).toList());
    }

    /**
     * All devices.
     *
     * @return the host, then those of other kinds in the order of their numbers
     */
    public List<DeviceInfo> devices() {
        return kinds.stream().flatMap(kind -> kind.devices().stream()).toList();
    }

    /**
     * What was found of one kind.
     *
     * @param kind such as {@code cuda}
     * @return the devices, or why there are none
     * @throws IllegalArgumentException if no provider is of this kind
     */
    public DeviceSupport kind(String kind) {
        return kinds.stream().filter(found -> found.kind().equals(kind)).findFirst().orElseThrow(
                () -> new IllegalArgumentException("no provider of device '" + kind + "'"));
    }
}
