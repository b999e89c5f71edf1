// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/** Whether batches are copied to the device, or lent where they were collated. The bytes are the same. */
public enum TransferMode {
    /** IN_PLACE where the CPU can read the device's memory and no stages run there, COPY elsewhere. */
    AUTO,
    /** The trainer is lent the host slot: only for a device whose memory is the host's, and without stages. */
    IN_PLACE,
    /** One copy a batch from the host slot to a device slot, on a stream of its own. */
    COPY
}
