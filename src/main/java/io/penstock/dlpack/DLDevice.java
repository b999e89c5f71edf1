// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

/**
 * The device that holds a tensor's memory, in DLPack's terms.
 *
 * @param type the kind of device
 * @param id the device's number among those of its type; 0 for host memory
 */
public record DLDevice(DeviceType type, int id) {

    /** The host's memory. */
    public static final DLDevice CPU = new DLDevice(DeviceType.CPU, 0);

    /** The memory types that the engine supports, with DLPack's codes. */
    public enum DeviceType {
        /** Host memory. */
        CPU(1),
        /** CUDA device memory. */
        CUDA(2),
        /** Host memory pinned for CUDA. */
        CUDA_HOST(3),
        /** Memory that CUDA migrates between host and device. */
        CUDA_MANAGED(13);

        private final int code;

        DeviceType(int code) {
            this.code = code;
        }

        /** {@return DLPack's {@code DLDeviceType} code} */
        public int code() {
            return code;
        }

        static DeviceType of(int code) {
            for (DeviceType type : values()) {
                if (type.code == code) {
                    return type;
                }
            }
            throw new IllegalArgumentException("DLPack device type " + code
                    + ", expected 1 (CPU), 2 (CUDA), 3 (CUDA host) or 13 (CUDA managed)");
        }
    }

    /**
     * {@return a CUDA device}
     *
     * @param ordinal its number, from 0
     */
    public static DLDevice cuda(int ordinal) {
        return new DLDevice(DeviceType.CUDA, ordinal);
    }

    /**
     * {@return whether the CPU can read the memory in place: true for {@link DeviceType#CPU} and
     * {@link DeviceType#CUDA_HOST}}
     */
    public boolean hostAccessible() {
        return type == DeviceType.CPU || type == DeviceType.CUDA_HOST;
    }
}
