package io.penstock.device;

/**
 * What there is to know about a device before it is opened. Where a thing does not apply or cannot be found out, a
 * string is empty and a number -1.
 *
 * @param name what {@link Device#open(String)} takes
 * @param model the product's name, such as {@code NVIDIA H200}; for the host its architecture and processor count
 * @param computeCapability the GPU's instruction set, such as {@code 9.0}
 * @param memoryTotalBytes its memory
 * @param memoryFreeBytes its memory that is not in use
 * @param copyEngines how many copies it runs at a time, beside kernels: with 2, one in each direction
 * @param hostNumaNode the NUMA node of the host that is nearest to it
 * @param pciBusId its place on the bus, such as {@code 0000:3B:00.0}
 * @param problem why something could not be found out
 */
public record DeviceInfo(
        String name, String model, String computeCapability, long memoryTotalBytes, long memoryFreeBytes,
        int copyEngines, int hostNumaNode, String pciBusId, String problem) {
}
