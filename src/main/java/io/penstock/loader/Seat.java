// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.sampling.BatchSampler;
import org.jspecify.annotations.Nullable;

/**
 * What a loader has to itself, of those that share workers.
 *
 * @param device where its batches go; null for a host device of its own
 * @param batches its rank's
 * @param name what threads and messages call it
 * @param loaders how many share the workers
 */
record Seat(@Nullable Device device, BatchSampler batches, String name, int loaders) {
}
