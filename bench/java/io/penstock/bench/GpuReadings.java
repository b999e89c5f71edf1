// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.diagnose.machine.GpuSample;
import io.penstock.diagnose.machine.MachineLog;
import io.penstock.diagnose.machine.MachineSample;
import io.penstock.diagnose.machine.MachineWatch;
import io.penstock.json.Json;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What the watch of a run reads of a GPU by NVML, beside what {@code nvidia-smi} says of it at the same time: while the
 * device is idle, and while it writes its memory. Prints a JSON line a field.
 *
 * <pre>
 *   --device NAME       cuda (default) or cuda:N
 *   --seconds N         of each state (3)
 * </pre>
 */
public final class GpuReadings {
    private static final List<String> FIELDS = List.of("utilization.gpu", "memory.used", "memory.total", "power.draw",
            "temperature.gpu", "clocks.sm", "clocks.max.sm", "pcie.link.gen.gpucurrent", "pcie.link.gen.max",
            "pcie.link.width.current", "pcie.link.width.max");
    private static final long STEP_NANOS = 20_000_000;

    private GpuReadings() {
    }

    /** Takes the options above. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Map<String, String> options = LoaderThroughput.options(args);
        long nanos = (long) (Double.parseDouble(options.getOrDefault("seconds", "3")) * 1e9);
        try (Device device = Device.open(options.getOrDefault("device", "cuda"));
                DeviceStream stream = device.openStream("trainer");
                MachineWatch watch = MachineWatch.start(OptionalInt.of(device.ordinal()))) {
            device.makeCurrent();
            try (ComputeStandIn compute = ComputeStandIn.of(device, stream, STEP_NANOS)) {
                for (boolean busy : new boolean[] {false, true}) {
                    Optional<Process> asked = Optional.empty();
                    long begin = System.nanoTime();
                    while (System.nanoTime() - begin < nanos) {
                        if (busy) {
                            compute.run(stream);
                            stream.synchronize();
                        } else {
                            Thread.sleep(STEP_NANOS / 1_000_000);
                        }
                        if (asked.isEmpty() && System.nanoTime() - begin > nanos * 2 / 3) {
                            asked = ask(device.ordinal());
                        }
                    }
                    print(busy ? "busy" : "idle", watch.log(), asked);
                }
            }
        }
    }

    /** {@return the program at work; empty if it is not on this machine} */
    private static Optional<Process> ask(int ordinal) {
        try {
            return Optional.of(new ProcessBuilder("nvidia-smi", "--id=" + ordinal, "--format=csv,noheader,nounits",
                    "--query-gpu=" + String.join(",", FIELDS)).redirectError(ProcessBuilder.Redirect.DISCARD).start());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static void print(String state, MachineLog log, Optional<Process> asked) throws IOException {
        String[] said = asked.isEmpty() ? new String[0]
                : new String(asked.get().getInputStream().readAllBytes(), UTF_8).strip().split(", *");
        double[] read = log.samples().stream().map(MachineSample::gpu).filter(Objects::nonNull)
                .reduce((_, last) -> last).map(GpuReadings::values).orElse(new double[0]);
        for (int i = 0; i < FIELDS.size(); i++) {
            var row = new LinkedHashMap<String, Object>();
            row.put("kind", "readings");
            row.put("gpu", log.gpu());
            row.put("state", state);
            row.put("field", FIELDS.get(i));
            row.put("nvml", i < read.length && !Double.isNaN(read[i]) ? read[i] : "unknown");
            row.put("nvidia_smi", i < said.length ? said[i] : "unknown");
            System.out.println(Json.write(row));
        }
    }

    /** In the order and the units of the fields. */
    private static double[] values(GpuSample sample) {
        return new double[] {sample.utilization() * 100, sample.memory().usedBytes() / (1 << 20),
                sample.memory().totalBytes() / (1 << 20), sample.powerWatts(), sample.temperatureCelsius(),
                sample.clocks().multiprocessorMegahertz(), sample.clocks().maximumMegahertz(),
                sample.link().generation(), sample.link().maximumGeneration(), sample.link().lanes(),
                sample.link().maximumLanes()};
    }
}
