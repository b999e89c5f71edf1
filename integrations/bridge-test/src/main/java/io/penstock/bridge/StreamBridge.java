// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import io.penstock.device.DeviceStream;
import io.penstock.loader.DataLoader;

/**
 * How a framework gets batches on a GPU: what {@link GpuContract} needs to know of a bridge. The class has a public
 * constructor without parameters, since it is made in a JVM of its own. There the GPU is simulated: a framework that is
 * built for the CPU alone may be tested too, as long as it does not read the memory.
 */
public interface StreamBridge {

    /**
     * Takes the loader's next batch as the bridge's users do who work on a stream of their own.
     *
     * @param loader a loader on a GPU
     * @param stream what the framework works on
     * @return the batch; of it the contract uses {@link Bridge.Alias#address} and {@link Bridge.Alias#close}
     */
    Bridge.Alias take(DataLoader loader, DeviceStream stream);
}
