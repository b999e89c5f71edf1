// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/** Whether batches are copied to the device, or lent where they were collated. The bytes are the same. */
public enum TransferMode {
    /** IN_PLACE where the CPU can read the device's memory and no stages run there, else COPY. */
    AUTO,
    /** The trainer gets the host slot: only without stages, for a device whose memory the CPU can read. */
    IN_PLACE,
    /** One copy per batch from the host slot to a device slot, on a stream of its own. */
    COPY
}
