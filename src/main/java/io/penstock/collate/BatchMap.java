// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.memory.Slab;
import io.penstock.sampling.BatchPlan;

/**
 * A user's in-place change to a collated batch. All workers call it concurrently, each with its own batch. It is
 * deterministic if it draws from a {@link io.penstock.sampling.KeyedRandom} of {@code plan.epoch()} and
 * {@link BatchPlan#position each row's position}.
 */
@FunctionalInterface
public interface BatchMap {

    /**
     * Changes the values of a batch. Shapes stay the same.
     *
     * @param plan the batch's epoch and samples; read-only
     * @param batch the batch: {@code batch.tensor(batch.layout().indexOf("tokens"))}
     */
    void apply(BatchPlan plan, Slab batch);
}
