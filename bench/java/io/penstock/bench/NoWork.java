// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;

/** A number a sample, which stays as it is. */
record NoWork() implements Collator {

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        return SlabLayout.of(new TensorSpec("nothing", DType.I64, batchSize));
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        out.setDim(0, 0, plan.count());
        out.layOut();
    }
}
