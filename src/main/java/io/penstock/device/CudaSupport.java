package io.penstock.device;

/**
 * Whether CUDA devices can be used here, and over which library.
 *
 * @param library the file of CUDA's runtime library, empty if none was loaded
 * @param runtimeVersion the version of that library, such as {@code 13.0}, or empty
 * @param driverVersion the newest CUDA that the driver supports, such as {@code 13.0}, or empty if there is no driver
 * @param unavailable why CUDA devices cannot be used, or null if they can
 * @param message the same in words, with what to do; empty if they can be used
 */
public record CudaSupport(
        String library, String runtimeVersion, String driverVersion,
        DeviceUnavailableException.Reason unavailable, String message) {
    /**
     * Whether at least one CUDA device can be used.
     *
     * @return true if {@link #unavailable()} is null
     */
    public boolean isUsable() {
        return unavailable == null;
    }
}
