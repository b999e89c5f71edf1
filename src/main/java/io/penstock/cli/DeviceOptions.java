package io.penstock.cli;

import io.penstock.loader.TransferMode;
import picocli.CommandLine.Option;

/** Where batches go, and how. */
final class DeviceOptions {

    @Option(names = "--device", defaultValue = "auto", paramLabel = "DEVICE",
            description = "auto (default: the first CUDA device, or else the host), host or cuda:N.")
    private String device;

    @Option(names = "--transfer", defaultValue = "auto", paramLabel = "MODE", converter = TransferText.class,
            description = "copy: to memory of the device's own. in-place: lend what the workers wrote, on the host"
                    + " alone. auto (default): in place where that is possible.")
    private TransferMode transfer;

    /**
     * Opens the device.
     *
     * @throws IllegalArgumentException if no device has that name
     */
    ChosenDevice open() {
        return ChosenDevice.of(device);
    }

    TransferMode transfer() {
        return transfer;
    }
}
