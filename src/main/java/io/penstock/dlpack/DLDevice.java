package io.penstock.dlpack;

/**
 * Where a tensor's memory is, in DLPack's terms.
 *
 * @param type the kind of device
 * @param id its number among those of its kind; 0 for memory of the host
 */
public record DLDevice(Type type, int id) {

    /** This machine's memory. */
    public static final DLDevice CPU = new DLDevice(Type.CPU, 0);

    /** The kinds of memory that the engine knows, with DLPack's codes. */
    public enum Type {
        /** Memory of the host. */
        CPU(1),
        /** Memory of a CUDA device. */
        CUDA(2),
        /** Memory of the host that is pinned for CUDA. */
        CUDA_HOST(3),
        /** Memory that CUDA moves between host and device. */
        CUDA_MANAGED(13);

        private final int code;

        Type(int code) {
            this.code = code;
        }

        /**
         * The {@code DLDeviceType}.
         *
         * @return DLPack's code
         */
        public int code() {
            return code;
        }

        static Type of(int code) {
            for (Type type : values()) {
                if (type.code == code) {
                    return type;
                }
            }
            throw new IllegalArgumentException("DLPack device type " + code
                    + ", expected 1 (CPU), 2 (CUDA), 3 (CUDA host) or 13 (CUDA managed)");
        }
    }

    /**
     * A CUDA device.
     *
     * @param ordinal its number, from 0
     * @return the device
     */
    public static DLDevice cuda(int ordinal) {
        return new DLDevice(Type.CUDA, ordinal);
    }

    /**
     * Whether the CPU reads the memory in place.
     *
     * @return true for {@link Type#CPU} and {@link Type#CUDA_HOST}
     */
    public boolean hostAccessible() {
        return type == Type.CPU || type == Type.CUDA_HOST;
    }
}
