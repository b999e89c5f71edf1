// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.NamedStep;
import io.penstock.augment.step.Size;
import io.penstock.augment.step.Step;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.Arrivals;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleGenerator;
import io.penstock.dataset.source.SampleGenerator.SampleTensors;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** A dataset with the parameters of a pipeline as its last field, which workers draw for each sample. */
record WithParameters(Dataset base, List<TensorSpec> fields, String pipeline, FieldSource.Generated parameters)
        implements Dataset {

    /** A worker's working memory: a generator has no session to keep it in. */
    private static final ThreadLocal<double[]> VALUES = ThreadLocal.withInitial(() -> new double[Step.MAX_PARAMETERS]);

    /** Adds the parameters of a pipeline over a field of images. */
    static WithParameters of(Dataset base, String images, String name, String pipeline, AugmentMap map,
            ParameterTable table) {
        TensorSpec field = table.field(images);
        if (base.fields().stream().anyMatch(other -> other.name().equals(field.name()))) {
            throw new IllegalArgumentException("two fields are named '" + field.name() + "'");
        }
        List<TensorSpec> fields = new ArrayList<>(base.fields());
        fields.add(field);
        return new WithParameters(base, List.copyOf(fields), pipeline, new FieldSource.Generated(
                new Draws(map.steps(), table, map.sizes()), List.of(field), 0, name + ".parameters",
                sample -> Objects.checkIndex(sample, base.size())));
    }

    /** Generates the parameters of a sample; {@code sizes} are the image's sizes before each step. */
    private record Draws(List<NamedStep> steps, ParameterTable table, List<Size> sizes) implements SampleGenerator {

        @Override
        public void generate(long sample, RandomGenerator random, SampleTensors out) {
            draw(steps, table, sizes, random, out.tensor(0).segment());
        }
    }

    /** Draws the parameters of all steps into a row. */
    static void draw(List<NamedStep> steps, ParameterTable table, List<Size> sizes, RandomGenerator random,
            MemorySegment row) {
        double[] values = VALUES.get();
        for (int i = 0; i < steps.size(); i++) {
            Size size = sizes.get(i);
            steps.get(i).draw(random, size.height(), size.width(), values);
            table.write(i, values, row);
        }
    }

    @Override
    public long size() {
        return base.size();
    }

    @Override
    public Optional<Arrivals> arrivals() {
        return base.arrivals();
    }

    @Override
    public FieldSource source(int field) {
        return field == fields.size() - 1 ? parameters : base.source(field);
    }

    @Override
    public String name(long sample) {
        return base.name(sample);
    }

    @Override
    public String key(long sample) {
        return base.key(sample);
    }

    @Override
    public long maxLength(int field) {
        return field == fields.size() - 1 ? fields.get(field).dim(0) : base.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return "augmented:" + pipeline + "->" + fields.getLast() + "|" + base.fingerprint();
    }

    @Override
    public String toString() {
        return base + ", with the parameters of " + pipeline;
    }
}
