// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.text.ByteText;

/**
 * The memory that a loader allocated at open; it allocates no more.
 *
 * @param hostSlots slots of the host ring
 * @param deviceSlots slots on the device; 0 if batches are lent in place
 * @param slabBytes bytes of one host slot
 * @param hostBytes pinned host memory of all slots
 * @param deviceBytes device memory of all slots, with the outputs of stages
 */
public record LoaderMemory(int hostSlots, int deviceSlots, long slabBytes, long hostBytes, long deviceBytes) {

    /** For people: {@code 5 host slots of 128.1 KiB (640.6 KiB pinned), 3 device slots (384.4 KiB)}. */
    @Override
    public String toString() {
        String host = hostSlots + " host slots of " + ByteText.of(slabBytes) + " (" + ByteText.of(hostBytes)
                + " pinned)";
        return deviceSlots == 0 ? host + ", lent in place"
                : host + ", " + deviceSlots + " device slots (" + ByteText.of(deviceBytes) + ")";
    }
}
