// SPDX-License-Identifier: Apache-2.0
/**
 * What the machine did while a run took its steps: the GPU by NVML, the process and its limits by {@code /proc} and
 * {@code /sys/fs/cgroup}.
 */
@NullMarked
package io.penstock.diagnose.machine;

import org.jspecify.annotations.NullMarked;
