package io.penstock.collate;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.SampleReader;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.TokenBudget;
import java.util.Objects;

/**
 * Writes the samples of a batch into a slab.
 *
 * <p>One collator serves all workers at the same time, each with a reader, a plan and a slab of its own. It is
 * deterministic: the bytes of every field follow from the plan and the dataset alone. It allocates nothing.
 */
public interface Collator {

    /**
     * The fields of a batch, each with the greatest shape that it can have.
     *
     * @param dataset where the samples come from
     * @param batchSize the most samples that a batch has
     * @return the layout of a slab
     * @throws IllegalArgumentException if this collator cannot collate the dataset's fields; says why
     */
    SlabLayout layout(Dataset dataset, int batchSize);

    /**
     * The fields of a batch of as many samples as fit in a budget: no padded field has more elements a batch than the
     * budget has tokens.
     *
     * @param dataset where the samples come from
     * @param budget one that counts the padding
     * @return the layout of a slab
     * @throws IllegalArgumentException if this collator cannot collate the dataset's fields, or pads otherwise than the
     *     budget counts; says why
     */
    default SlabLayout layout(Dataset dataset, TokenBudget budget) {
        throw new IllegalArgumentException(this + ": found a token budget with padding, expected a collator that pads");
    }

    /**
     * Writes a batch. The slab's table comes with the shapes of an earlier batch: the collator sets every dimension
     * that can differ, lays out, and writes every byte of every field.
     *
     * @param in reads the samples
     * @param plan which samples
     * @param out where to; of this collator's {@link #layout}
     */
    void collate(SampleReader in, BatchPlan plan, Slab out);

    /**
     * This collator, with a change to each batch that it made.
     *
     * @param map the change, made by the worker
     * @return a collator of the same fields
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
            public void collate(SampleReader in, BatchPlan plan, Slab out) {
                first.collate(in, plan, out);
                map.apply(plan, out);
            }

            @Override
            public String toString() {
                return first + ", mapped";
            }
        };
    }
}
