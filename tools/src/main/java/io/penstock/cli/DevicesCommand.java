// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.device.DeviceInventory;
import io.penstock.device.DeviceInventory.DeviceInfo;
import io.penstock.device.DeviceInventory.DeviceSupport;
import io.penstock.json.Json;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "devices",
        description = "Lists the devices that batches can go to; if CUDA cannot be used, says why.")
final class DevicesCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Override
    public Integer call() {
        DeviceInventory inventory = DeviceInventory.take();
        if (report.isJson()) {
            Map<String, @Nullable Object> fields = Json.members(
                    "devices", inventory.devices().stream().map(DevicesCommand::fields).toList(),
                    "cuda", fields(inventory.kind("cuda")));
            report.print(fields);
        } else {
            report.print(text(inventory));
        }
        return ExitCode.SUCCESS;
    }

    /** Values that are unknown or do not apply are null. */
    private static Map<String, @Nullable Object> fields(DeviceInfo device) {
        return Json.members("name", device.name(), "model", known(device.model()),
                "compute_capability", known(device.computeCapability()),
                "memory_total_bytes", known(device.memoryTotalBytes()),
                "memory_free_bytes", known(device.memoryFreeBytes()), "copy_engines", known(device.copyEngines()),
                "host_numa_node", known(device.hostNumaNode()), "pci_bus_id", known(device.pciBusId()),
                "problem", known(device.problem()));
    }

    private static Map<String, @Nullable Object> fields(DeviceSupport cuda) {
        return Json.members("usable", cuda.isUsable(), "library", known(cuda.library()),
                "runtime_version", known(cuda.runtimeVersion()), "driver_version", known(cuda.driverVersion()),
                "unavailable", cuda.unavailable() == null ? null : cuda.unavailable().name(),
                "message", known(cuda.message()));
    }

    private static @Nullable String known(@Nullable String value) {
        return value == null || value.isEmpty() ? null : value;
    }

    private static @Nullable Long known(long value) {
        return value < 0 ? null : value;
    }

    private static String text(DeviceInventory inventory) {
        StringBuilder text = new StringBuilder();
        for (DeviceInfo device : inventory.devices()) {
            List<String> facts = new ArrayList<>(List.of(device.model()));
            if (device.memoryTotalBytes() >= 0) {
                facts.add(NumberText.of(device.memoryTotalBytes(), "B") + (device.memoryFreeBytes() < 0 ? ""
                        : " (" + NumberText.of(device.memoryFreeBytes(), "B") + " free)"));
            }
            add(facts, "compute capability ", known(device.computeCapability()));
            add(facts, "", device.copyEngines() < 0 ? null : NumberText.count(device.copyEngines(), "copy engine"));
            add(facts, "", known(device.pciBusId()));
            add(facts, "NUMA node ", known(device.hostNumaNode()));
            text.append(String.format(Locale.ROOT, "%-8s %s", device.name(), String.join(", ", facts)));
            if (known(device.problem()) != null) {
                text.append(" [").append(device.problem()).append(']');
            }
            text.append('\n');
        }
        DeviceSupport cuda = inventory.kind("cuda");
        text.append(cuda.isUsable()
                ? "CUDA runtime " + cuda.runtimeVersion() + ", driver for " + cuda.driverVersion() + ", "
                        + cuda.library() + "\n"
                : "no CUDA device: " + cuda.message() + "\n");
        return text.toString();
    }

    private static void add(List<String> facts, String name, @Nullable Object value) {
        if (value != null) {
            facts.add(name + value);
        }
    }
}
