// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.sampling.BatchSampler;
import org.jspecify.annotations.Nullable;

/**
 * What belongs to one of the loaders that share workers: the device, null for a host device of its own, its rank's
 * batches, and its name. {@code loaders} is the number of those that share the workers.
 */
record Seat(@Nullable Device device, BatchSampler batches, String name, int loaders) {
}
