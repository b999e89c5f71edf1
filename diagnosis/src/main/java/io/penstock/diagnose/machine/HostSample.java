// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

/**
 * One look at the process and what limits it. NaN is a value that this system does not tell. Times and bytes are totals
 * since the process, or the system, began.
 *
 * @param memory memory of the process
 * @param cpu processor time
 * @param pressure time that tasks of the whole system lacked something
 * @param traffic bytes that the process moved
 * @param limits limits of its control group
 */
public record HostSample(ProcessMemory memory, Cpu cpu, Pressure pressure, Traffic traffic,
        GroupLimits limits) {

    /**
     * Memory and handles of the process.
     *
     * @param residentBytes in RAM, pages of files included
     * @param anonymousBytes in RAM, without pages of files: heap, stacks, native allocations
     * @param heapBytes used of the Java heap
     * @param heapAfterGcBytes used of the Java heap after its latest collection; NaN before the first
     * @param openFiles open file descriptors
     * @param threads threads
     */
    public record ProcessMemory(double residentBytes, double anonymousBytes, double heapBytes, double heapAfterGcBytes,
            double openFiles, double threads) {
    }

    /**
     * Processor time of the process, in seconds.
     *
     * @param totalSeconds of all threads, ended ones included
     * @param loaderSeconds threads of loaders, of those that live
     * @param gcSeconds threads of the garbage collector
     * @param compilerSeconds threads of the JIT compilers
     * @param otherSeconds all other living threads, the trainer's among them
     */
    public record Cpu(double totalSeconds, double loaderSeconds, double gcSeconds, double compilerSeconds,
            double otherSeconds) {
    }

    /**
     * Pressure stall information: time, in seconds, in which at least one task of the system waited.
     *
     * @param cpuSeconds for a core
     * @param ioSeconds for storage
     * @param memorySeconds for memory
     */
    public record Pressure(double cpuSeconds, double ioSeconds, double memorySeconds) {
    }

    /**
     * Bytes that the process moved.
     *
     * @param diskReadBytes read from storage, not from the page cache
     * @param diskWrittenBytes written to storage
     * @param networkReceivedBytes received by the process's network namespace, without loopback
     * @param networkSentBytes sent by it
     */
    public record Traffic(double diskReadBytes, double diskWrittenBytes, double networkReceivedBytes,
            double networkSentBytes) {
    }

    /**
     * Limits of the control group.
     *
     * @param cores processor time per time that the group may use; NaN without a limit
     * @param periods periods in which the group ran
     * @param throttledPeriods those in which it used up its time and had to wait
     * @param memoryBytes memory of the group
     * @param memoryLimitBytes the most it may have; NaN without a limit
     */
    public record GroupLimits(double cores, double periods, double throttledPeriods, double memoryBytes,
            double memoryLimitBytes) {
    }
}
