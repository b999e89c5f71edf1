// SPDX-License-Identifier: Apache-2.0
package org.example;

import io.penstock.dataset.Dataset;
import io.penstock.diagnose.Diagnosis;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.List;

/** Reads batches of generated samples and prints one line: uses the engine and one wing of a repository. */
public final class Outside {

    private Outside() {
    }

    /** Prints one line; ends with an exception if a batch is not what was generated. */
    public static void main(String[] args) throws Exception {
        Dataset squares = Dataset.generate(1000, List.of(new TensorSpec("square", DType.I64, 1)), "squares v1",
                (sample, random, out) -> out.tensor("square").set(sample * sample, 0));
        long sum = 0;
        try (DataLoader loader = DataLoader.builder(squares).batchSize(8).shuffle(42).open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    for (int i = 0; i < batch.count(); i++) {
                        sum += batch.tensor("square").getLong(i);
                    }
                }
            }
            if (sum != 332_833_500) {
                throw new IllegalStateException("the sum of squares is " + sum);
            }
            Module own = Outside.class.getModule();
            System.out.println((own.isNamed() ? own.getName() : "unnamed module") + ", " + squares.size()
                    + " samples, summary of " + diagnosis.summary().text().lines().count() + " lines, Penstock in "
                    + DataLoader.class.getModule());
        }
    }
}
