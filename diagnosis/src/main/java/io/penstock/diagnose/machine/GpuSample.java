// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

/**
 * One look at a GPU. NaN is a value that the device or its driver does not support.
 *
 * @param utilization share of the last moments, at most a second, in which a kernel ran; 0 to 1
 * @param memory its memory
 * @param processes number of processes that compute on it
 * @param powerWatts power drawn
 * @param temperatureCelsius temperature of the chip
 * @param clocks its clocks
 * @param correctedErrors memory errors that ECC corrected since the driver was loaded
 * @param uncorrectedErrors memory errors that ECC found and could not correct since then
 * @param link its link to the host
 */
public record GpuSample(double utilization, DeviceMemory memory, double processes, double powerWatts,
        double temperatureCelsius, Clocks clocks, double correctedErrors, double uncorrectedErrors, Link link) {

    /**
     * Memory of the device.
     *
     * @param usedBytes used by all processes and the driver
     * @param totalBytes all of it
     * @param processBytes used by this process
     */
    public record DeviceMemory(double usedBytes, double totalBytes, double processBytes) {
    }

    /**
     * Clocks of the device.
     *
     * @param multiprocessorMegahertz present clock of the multiprocessors
     * @param maximumMegahertz the most that the device can
     * @param throttle why it is not higher: NVML's bits, see {@link Throttle}; -1 if unknown
     */
    public record Clocks(double multiprocessorMegahertz, double maximumMegahertz, long throttle) {
    }

    /**
     * The PCIe link. Links of idle devices are slower to save power.
     *
     * @param generation present generation
     * @param maximumGeneration the most that device and slot can
     * @param lanes present number of lanes
     * @param maximumLanes the most that device and slot can
     * @param sentBytesPerSecond from the device, over 20 ms
     * @param receivedBytesPerSecond to the device, over 20 ms
     */
    public record Link(double generation, double maximumGeneration, double lanes, double maximumLanes,
            double sentBytesPerSecond, double receivedBytesPerSecond) {
    }
}
