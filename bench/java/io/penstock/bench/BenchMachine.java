// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.device.Device;
import io.penstock.device.DeviceInventory;
import io.penstock.device.DeviceInventory.DeviceInfo;
import io.penstock.device.DeviceInventory.DeviceSupport;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a benchmark ran on, for its report. */
final class BenchMachine {
    private BenchMachine() {
    }

    static Map<String, Object> describe(Device device) {
        DeviceInventory inventory = DeviceInventory.take();
        DeviceSupport cuda = inventory.kind("cuda");
        DeviceInfo info = inventory.devices().stream().filter(found -> found.name().equals(device.name())).findFirst()
                .orElseThrow();
        var line = new LinkedHashMap<String, Object>();
        line.put("kind", "machine");
        line.put("device", device.name());
        line.put("model", info.model());
        line.put("simulated", CudaLedger.isSimulated());
        line.put("compute_capability", info.computeCapability());
        line.put("memory_bytes", info.memoryTotalBytes());
        line.put("cuda_runtime", cuda.runtimeVersion());
        line.put("cuda_driver", cuda.driverVersion());
        line.put("host", inventory.devices().getFirst().model());
        line.put("host_memory_bytes", inventory.devices().getFirst().memoryTotalBytes());
        line.put("java", System.getProperty("java.vm.version"));
        return line;
    }
}
