// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.TokenBudget;
import java.util.Objects;

/**
 * Writes the samples of a batch into a slab.
 *
 * <p>All workers share one collator, each with its own reader, plan and slab. It is deterministic: the bytes of every
 * field depend only on the plan and the dataset. It allocates nothing.
 */
public interface Collator {

    /**
     * The fields of a batch, each with its greatest possible shape.
     *
     * @param dataset the source of the samples
     * @param batchSize the most samples in a batch
     * @return the layout of a slab
     * @throws IllegalArgumentException if this collator cannot collate the dataset's fields; gives the reason
     */
    SlabLayout layout(Dataset dataset, int batchSize);

    /**
     * The fields of a batch filled up to a token budget. No padded field has more elements than the budget has tokens.
     *
     * @param dataset the source of the samples
     * @param budget a budget that counts padding
     * @return the layout of a slab
     * @throws IllegalArgumentException if this collator cannot collate the dataset's fields, or pads differently from
     *     the budget; gives the reason
     */
    default SlabLayout layout(Dataset dataset, TokenBudget budget) {
        throw new IllegalArgumentException(this + ": found a token budget with padding, expected a collator that pads");
    }

    /**
     * Writes a batch. The slab's table holds the shapes of an earlier batch: the collator sets every dimension that can
     * differ, lays out, and writes every byte of every field.
     *
     * @param in reads the samples
     * @param plan the batch's samples
     * @param out the slab to write, which has this collator's {@link #layout}
     */
    void collate(BatchReader in, BatchPlan plan, Slab out);

    /**
     * {@return this collator, followed by a change to each batch}
     *
     * @param map the change, applied by the worker
     */
    default Collator then(BatchMap map) {
        Objects.requireNonNull(map, "map");
        Collator first = this;
        return new Collator() {
            @Override
            public SlabLayout layout(Dataset dataset, int batchSize) {
                return first.layout(dataset, batchSize);
            }

            @Override
            public SlabLayout layout(Dataset dataset, TokenBudget budget) {
                return first.layout(dataset, budget);
            }

            @Override
            public void collate(BatchReader in, BatchPlan plan, Slab out) {
                first.collate(in, plan, out);
                map.apply(plan, out);
            }

            @Override
            public String toString() {
                return first + ", mapped";
            }
        };
    }

    /**
     * A user's in-place change to a collated batch. All workers call it concurrently, each with its own batch. It is
     * deterministic if it draws from a {@link io.penstock.sampling.KeyedRandom} of {@code plan.epoch()} and
     * {@link BatchPlan#position each row's position}.
     */
    @FunctionalInterface
    interface BatchMap {

        /**
         * Changes the values of a batch. Shapes stay the same.
         *
         * @param plan the batch's epoch and samples; read-only
         * @param batch the batch: {@code batch.tensor(batch.layout().indexOf("tokens"))}
         */
        void apply(BatchPlan plan, Slab batch);
    }
}
