// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;

/** A step of training as DJL's users write it: forward, loss, backward and SGD on a perceptron with two wide layers. */
final class TrainingStep implements AutoCloseable {

    private static final int UNITS = 512;

    private final Model model = Model.newInstance("step");
    private final Trainer trainer;
    private final float scale;

    /**
     * @param values values of a sample
     * @param scale the greatest value, which becomes one
     * @param labels values of a sample's label
     * @param loss what is minimized
     */
    TrainingStep(long values, float scale, long labels, Loss loss) {
        Engine.getInstance().setRandomSeed(1);
        model.setBlock(new SequentialBlock().add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(UNITS).build()).add(Activation.reluBlock())
                .add(Linear.builder().setUnits(UNITS).build()).add(Activation.reluBlock())
                .add(Linear.builder().setUnits(labels).build()));
        trainer = model.newTrainer(new DefaultTrainingConfig(loss)
                .optOptimizer(Optimizer.sgd().setLearningRateTracker(Tracker.fixed(1e-3f)).build()));
        trainer.initialize(new Shape(1, values));
        this.scale = scale;
    }

    /** Frees what it computes, so that closing the batch costs what the input does and no more. */
    void take(Batch batch) {
        NDArray label = batch.getLabels().singletonOrThrow();
        try (NDManager own = trainer.getManager().newSubManager();
                GradientCollector gradients = trainer.newGradientCollector()) {
            NDArray input = scaled(batch.getData().singletonOrThrow(), own);
            NDArray expected = label;
            if (label.getShape().dimension() > 1) {
                expected = scaled(label, own);
            }
            NDList predicted = trainer.forward(new NDList(input));
            gradients.backward(trainer.getLoss().evaluate(new NDList(expected), predicted));
        }
        trainer.step();
    }

    private NDArray scaled(NDArray values, NDManager own) {
        NDArray floats = values.toType(DataType.FLOAT32, true);
        floats.attach(own);
        return floats.divi(scale);
    }

    @Override
    public void close() {
        trainer.close();
        model.close();
    }
}
