// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.loader.TransferMode;
import picocli.CommandLine.Option;

/** Where batches go, and how. */
final class DeviceOptions {

    @Option(names = "--device", paramLabel = "DEVICE",
            description = "host, cuda:N or auto (default): the first CUDA device if there is one, else the host.")
    private String device = "auto";

    @Option(names = "--transfer", paramLabel = "MODE",
            description = "copy: copy batches to device memory. in-place: use the workers' memory directly, host only."
                    + " auto (default): in-place if possible.")
    private TransferMode transfer = TransferMode.AUTO;

    ChosenDevice open() {
        return ChosenDevice.of(device);
    }

    TransferMode transfer() {
        return transfer;
    }
}
