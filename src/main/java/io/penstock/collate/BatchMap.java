package io.penstock.collate;

import io.penstock.memory.Slab;
import io.penstock.sampling.BatchPlan;

/**
 * What code of a user does to a batch that is collated, in place, in the worker that made it. Called by all workers at
 * the same time, each with a batch of its own; deterministic if it draws its chances from a
 * {@link io.penstock.sampling.KeyedRandom} of {@code plan.epoch()} and {@link BatchPlan#position each row's position}.
 */
@FunctionalInterface
public interface BatchMap {

    /**
     * Changes the values of a batch. Shapes stay as they are.
     *
     * @param plan which samples the batch has, and of which epoch; not to be changed
     * @param batch the batch: {@code batch.tensor(batch.table().layout().indexOf("tokens"))}
     */
    void apply(BatchPlan plan, Slab batch);
}
