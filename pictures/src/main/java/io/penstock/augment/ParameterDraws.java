// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.NamedStep;
import io.penstock.augment.step.Size;
import io.penstock.augment.step.Step;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.SampleGenerator;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Draws the parameters of a pipeline, in the workers.
 *
 * @param steps the pipeline's steps
 * @param table where their parameters go in a row
 * @param sizes the image's sizes before each step
 */
record ParameterDraws(List<NamedStep> steps, ParameterTable table, List<Size> sizes) implements SampleGenerator {

    /** A worker's working memory: a generator has no session to keep it in. */
    private static final ThreadLocal<double[]> VALUES = ThreadLocal.withInitial(() -> new double[Step.MAX_PARAMETERS]);

    /** Adds the parameters of a pipeline over a field of images as the last field. */
    static Dataset add(Dataset images, String field, Augment augment, AugmentMap map) {
        ParameterTable table = augment.table();
        return images.with(table.field(field), "parameters of " + augment, augment.name() + ".parameters",
                new ParameterDraws(map.steps(), table, map.sizes()));
    }

    @Override
    public void generate(long sample, RandomGenerator random, SampleTensors out) {
        draw(random, out.tensor(0).segment());
    }

    /** Draws the parameters of all steps into a row. */
    void draw(RandomGenerator random, MemorySegment row) {
        double[] values = VALUES.get();
        for (int i = 0; i < steps.size(); i++) {
            Size size = sizes.get(i);
            steps.get(i).draw(random, size.height(), size.width(), values);
            table.write(i, values, row);
        }
    }
}
