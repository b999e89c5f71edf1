// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.machine.GpuSample;
import io.penstock.diagnose.machine.HostSample;
import io.penstock.diagnose.machine.MachineSample;
import java.util.function.IntToDoubleFunction;

/** What is seen of a machine: healthy, until told otherwise. By the number of the step. */
final class PlayedMachine {

    boolean withGpu = true;
    double utilization = 0.95;
    double processes = 1;
    IntToDoubleFunction gpuBytes = _ -> 20e9;
    double clock = 1900;
    long throttle;
    double generation = 5;
    double lanes = 16;
    IntToDoubleFunction anonymous = _ -> 2e9;
    IntToDoubleFunction heap = _ -> 1e9;
    IntToDoubleFunction afterGc = _ -> 5e8;
    IntToDoubleFunction files = _ -> 40;
    IntToDoubleFunction threads = _ -> 30;
    /** Of two periods of the control group a step. */
    IntToDoubleFunction throttled = _ -> 0;

    MachineSample sample(int step) {
        var host = new HostSample(new HostSample.ProcessMemory(anonymous.applyAsDouble(step) + 1e9,
                anonymous.applyAsDouble(step), heap.applyAsDouble(step), afterGc.applyAsDouble(step),
                files.applyAsDouble(step), threads.applyAsDouble(step)),
                new HostSample.Cpu(0.03 * step, 0.01 * step, 0, 0, 0.02 * step),
                new HostSample.Pressure(0.001 * step, 0, 0), new HostSample.Traffic(1e6 * step, 0, 2e6 * step, 0),
                new HostSample.GroupLimits(4, 2 * step, throttled.applyAsDouble(step), 4e9, 10e9));
        var gpu = new GpuSample(utilization, new GpuSample.DeviceMemory(gpuBytes.applyAsDouble(step) + 1e9, 80e9,
                gpuBytes.applyAsDouble(step)), processes, 400, 65, new GpuSample.Clocks(clock, 1980, throttle), 0, 0,
                new GpuSample.Link(generation, 5, lanes, 16, 1e6, 1e9));
        return new MachineSample(0, host, withGpu ? gpu : null);
    }
}
