// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.workers;

import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.SlotRing;
import io.penstock.telemetry.recording.LoaderProbe;

/** Where a worker fills slots: the ring of one device, with the maker of its batches on the worker's thread. */
public record Place(SlotRing ring, BatchMaker maker, LoaderFailure failure, LoaderProbe probe) {
}
