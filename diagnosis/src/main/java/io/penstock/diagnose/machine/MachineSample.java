// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import org.jspecify.annotations.Nullable;

/**
 * One look at the machine.
 *
 * @param atNanos when, by {@link System#nanoTime}
 * @param host the process and its limits
 * @param gpu the latest look at the GPU; null without one since the sample before
 */
public record MachineSample(long atNanos, HostSample host, @Nullable GpuSample gpu) {
}
