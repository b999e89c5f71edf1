// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

/**
 * The loader that telemetry describes.
 *
 * @param name the loader's name
 * @param device its device's name
 * @param workers number of worker threads; with 0, the trainer's thread fills slots
 * @param copies whether it copies batches to the device
 * @param timed whether it reads the device's clock
 */
public record LoaderIdentity(String name, String device, int workers, boolean copies, boolean timed) {

    /** Threads that fill slots: the workers, or the trainer's thread if there are none. */
    int fillers() {
        return Math.max(1, workers);
    }
}
