// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import java.util.List;

/**
 * What was seen of the machine during a run.
 *
 * @param samples in order; the latest some thousand
 * @param gpu the GPU's name; why there is none in parentheses: {@code (no NVML)}
 */
public record MachineLog(List<MachineSample> samples, String gpu) {

    /** Nothing was looked at. */
    public static final MachineLog NONE = new MachineLog(List.of(), "(not looked at)");

    /** Copies. */
    public MachineLog {
        samples = List.copyOf(samples);
    }
}
