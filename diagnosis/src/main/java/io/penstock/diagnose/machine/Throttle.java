// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Why a GPU's clocks are lower than they could be: {@code nvmlClocksThrottleReason} of {@code nvml.h}. Reasons that are
 * choices, such as an idle device or clocks that somebody set, are not among them.
 */
public enum Throttle {
    /** The limit of power, which many devices reach at full load. */
    POWER_CAP(0x4),
    /** Half the clocks or less: heat, power, or a signal from outside. */
    HARDWARE_SLOWDOWN(0x8),
    /** The driver holds the temperature below its limit. */
    HEAT(0x20),
    /** The device protects itself from heat. */
    HARDWARE_HEAT(0x40),
    /** The power supply asked for less. */
    POWER_BRAKE(0x80);

    private final long bit;

    Throttle(long bit) {
        this.bit = bit;
    }

    /** {@return the name in reports: {@code power cap}} */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /**
     * {@return the reasons in NVML's bits; none if they are unknown}
     *
     * @param bits as NVML gives them; -1 if unknown
     */
    public static List<Throttle> of(long bits) {
        List<Throttle> reasons = new ArrayList<>();
        for (Throttle reason : values()) {
            if (bits >= 0 && (bits & reason.bit) != 0) {
                reasons.add(reason);
            }
        }
        return reasons;
    }
}
