// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

/**
 * The loader that telemetry describes. Without workers, the trainer's thread fills slots; {@code copies} and {@code
 * timed} say whether it copies batches to the device and reads the device's clock.
 */
public record LoaderIdentity(String name, String device, int workers, boolean copies, boolean timed) {

    /** Threads that fill slots: the workers, or the trainer's thread if there are none. */
    int fillers() {
        return Math.max(1, workers);
    }
}
