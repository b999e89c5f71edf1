package io.penstock.cli;

import io.penstock.device.DeviceInfo;
import io.penstock.device.DeviceInventory;
import io.penstock.device.DeviceSupport;
import io.penstock.text.NumberText;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code penstock devices}. */
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
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("devices", inventory.devices().stream().map(DevicesCommand::fields).toList());
            fields.put("cuda", fields(inventory.kind("cuda")));
            report.print(fields);
        } else {
            report.print(text(inventory));
        }
        return ExitCode.SUCCESS;
    }

    /** What does not apply or is unknown is null. */
    private static Map<String, Object> fields(DeviceInfo device) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", device.name());
        fields.put("model", known(device.model()));
        fields.put("compute_capability", known(device.computeCapability()));
        fields.put("memory_total_bytes", known(device.memoryTotalBytes()));
        fields.put("memory_free_bytes", known(device.memoryFreeBytes()));
        fields.put("copy_engines", known(device.copyEngines()));
        fields.put("host_numa_node", known(device.hostNumaNode()));
        fields.put("pci_bus_id", known(device.pciBusId()));
        fields.put("problem", known(device.problem()));
        return fields;
    }

    private static Map<String, Object> fields(DeviceSupport cuda) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("usable", cuda.isUsable());
        fields.put("library", known(cuda.library()));
        fields.put("runtime_version", known(cuda.runtimeVersion()));
        fields.put("driver_version", known(cuda.driverVersion()));
        fields.put("unavailable", cuda.isUsable() ? null : cuda.unavailable().name());
        fields.put("message", known(cuda.message()));
        return fields;
    }

    private static String known(String value) {
        return value == null || value.isEmpty() ? null : value;
    }

    private static Long known(long value) {
        return value < 0 ? null : value;
    }

    private static String text(DeviceInventory inventory) {
        StringBuilder text = new StringBuilder();
        for (DeviceInfo device : inventory.devices()) {
            text.append(String.format("%-8s %s", device.name(), device.model()));
            if (device.memoryTotalBytes() >= 0) {
                text.append(", ").append(NumberText.of(device.memoryTotalBytes(), "B"));
            }
            if (device.memoryFreeBytes() >= 0) {
                text.append(" (").append(NumberText.of(device.memoryFreeBytes(), "B")).append(" free)");
            }
            if (known(device.computeCapability()) != null) {
                text.append(", compute capability ").append(device.computeCapability());
            }
            if (device.copyEngines() >= 0) {
                text.append(", ").append(NumberText.count(device.copyEngines(), "copy engine"));
            }
            if (known(device.pciBusId()) != null) {
                text.append(", ").append(device.pciBusId());
            }
            if (device.hostNumaNode() >= 0) {
                text.append(", NUMA node ").append(device.hostNumaNode());
            }
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
}
