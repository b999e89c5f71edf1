// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

/**
 * What is known about a device before it is opened. If a property does not apply or cannot be read, a string is empty
 * and a number is -1.
 *
 * @param name the name for {@link Device#open(String)}
 * @param model the product's name, such as {@code NVIDIA H200}; for the host, its architecture and processor count
 * @param computeCapability the GPU's instruction set, such as {@code 9.0}
 * @param memoryTotalBytes total memory
 * @param memoryFreeBytes free memory
 * @param copyEngines how many copies it can run at once, beside kernels; with 2, one in each direction
 * @param hostNumaNode the nearest NUMA node of the host
 * @param pciBusId its PCI address, such as {@code 0000:3B:00.0}
 * @param problem why something could not be read
 */
public record DeviceInfo(
        String name, String model, String computeCapability, long memoryTotalBytes, long memoryFreeBytes,
        int copyEngines, int hostNumaNode, String pciBusId, String problem) {
}
