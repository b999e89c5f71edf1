// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.workers;

import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.SlotRing;
import io.penstock.telemetry.recording.LoaderProbe;

/**
 * Where a worker fills slots: the ring of one device.
 *
 * @param ring the slots
 * @param maker makes the ring's batches, on the worker's thread
 * @param failure whether the ring's loader is over
 * @param probe told of the batches
 */
public record Place(SlotRing ring, BatchMaker maker, LoaderFailure failure, LoaderProbe probe) {
}
