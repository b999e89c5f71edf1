// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.images;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.pooling.Pool;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.penstock.augment.Augment;
import io.penstock.dataset.Dataset;
import io.penstock.djl.ModelCheckpoint;
import io.penstock.djl.PenstockDataset;
import io.penstock.image.Padding;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.pictures.ImageDecoder;
import io.penstock.pictures.Pictures;
import io.penstock.state.Checkpoint;
import io.penstock.store.RecordStore;
import io.penstock.transform.ImageTransform.Layout;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Locale;
import java.util.Optional;

/** Trains a convolutional net on pictures from tars, and resumes where an earlier run stopped. */
public final class TrainImages {

    private static final int PICTURES = 2048;
    /** Not a multiple of the batch size. */
    private static final int VALIDATION_PICTURES = 499;
    private static final int BATCH = 32;
    private static final int SEED = 42;
    private static final int MAX_SHIFT = 3;
    private static final int CHANNELS = 3;

    private final Path folder;
    private final int epochs;

    TrainImages(Path folder, int epochs) {
        this.folder = folder;
        this.epochs = epochs;
    }

    /**
     * Trains.
     *
     * @param args the folder of the tars and of the checkpoint, default {@code target/images}; the number of epochs,
     *     default 6
     * @throws Exception if a file cannot be read or written
     */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args.length > 0 ? args[0] : "target/images");
        double accuracy = new TrainImages(folder, args.length > 1 ? Integer.parseInt(args[1]) : 6).run();
        System.out.printf(Locale.ROOT, "accuracy %.3f on %d pictures%n", accuracy, VALIDATION_PICTURES);
    }

    /** The accuracy on the validation set at the end. */
    double run() throws Exception {
        Drawings.write(folder.resolve("train"), PICTURES, 1);
        Drawings.write(folder.resolve("validation"), VALIDATION_PICTURES, 2);
        Path saved = folder.resolve("checkpoint");
        try (RecordStore trainStore = RecordStore.open(folder.resolve("train"));
                RecordStore validationStore = RecordStore.open(folder.resolve("validation"));
                Model model = Model.newInstance("drawings")) {
            Engine.getInstance().setRandomSeed(SEED);
            model.setBlock(net());
            Optional<Checkpoint> checkpoint = ModelCheckpoint.load(saved, model);
            DataLoaderBuilder settings = training(trainStore);
            checkpoint.ifPresent(found -> settings.resume(found.state()));
            long step = checkpoint.map(Checkpoint::step).orElse(0L);
            try (DataLoader loader = settings.open();
                    DataLoader validation = validation(validationStore);
                    Trainer trainer = model.newTrainer(new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                            .optOptimizer(Optimizer.adam().optLearningRateTracker(Tracker.fixed(0.002f)).build()))) {
                trainer.initialize(new Shape(BATCH, CHANNELS, Drawings.SIDE, Drawings.SIDE));
                PenstockDataset pictures = named(loader);
                PenstockDataset unseen = named(validation).validRows();
                for (long epoch = loader.currentEpoch(); epoch < epochs; epoch++) {
                    step += train(trainer, pictures, epoch);
                    ModelCheckpoint.save(saved, step, model, loader);
                    System.out.printf(Locale.ROOT, "         accuracy %.3f%n", accuracy(trainer, unseen));
                }
                return accuracy(trainer, unseen);
            }
        }
    }

    // ---- input

    private static DataLoaderBuilder training(RecordStore store) {
        Augment flipAndShift = Augment.images().horizontalFlip(0.5)
                .randomCrop(Drawings.SIDE, Drawings.SIDE, Padding.of(MAX_SHIFT, Padding.Mode.EDGE));
        return DataLoader.builder(forNet(flipAndShift, store)).batchSize(BATCH).shuffle(SEED).leases(LeaseMode.REUSED);
    }

    private static DataLoader validation(RecordStore store) {
        return DataLoader.builder(forNet(Augment.images(), store)).batchSize(BATCH).leases(LeaseMode.REUSED)
                .name("validation").open();
    }

    /** Pixels as the net takes them: f16 from -0.5 to 0.5, half of the bytes of f32. */
    private static Dataset forNet(Augment augment, RecordStore store) {
        return augment.normalize(new float[] {0.5f, 0.5f, 0.5f}, new float[] {1, 1, 1}).to(DType.F16, Layout.NCHW)
                .mapped(Pictures.of(store).decoded(ImageDecoder.rgb(Drawings.SIDE, Drawings.SIDE)), "image");
    }

    private static PenstockDataset named(DataLoader loader) {
        return PenstockDataset.of(loader).data("image").labels("label").as("image", DataType.FLOAT32);
    }

    // ---- model

    private static Block net() {
        return new SequentialBlock()
                .add(convolution(16)).add(BatchNorm.builder().build()).add(Activation.reluBlock()).add(halved())
                .add(convolution(32)).add(BatchNorm.builder().build()).add(Activation.reluBlock()).add(halved())
                .add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(64).build()).add(Activation.reluBlock())
                .add(Linear.builder().setUnits(Drawings.KINDS).build());
    }

    private static Block convolution(int filters) {
        return Conv2d.builder().setKernelShape(new Shape(3, 3)).optPadding(new Shape(1, 1)).setFilters(filters).build();
    }

    private static Block halved() {
        return Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2));
    }

    // ---- loops

    /** Trains on the rest of an epoch; returns its steps. */
    private static long train(Trainer trainer, PenstockDataset pictures, long epoch) {
        long start = System.nanoTime();
        long waited = 0;
        long steps = 0;
        double losses = 0;
        Iterator<Batch> batches = pictures.getData(trainer.getManager()).iterator();
        while (batches.hasNext()) {
            long before = System.nanoTime();
            try (Batch batch = batches.next()) {
                waited += System.nanoTime() - before;
                losses += step(trainer, batch);
                steps++;
            }
        }
        System.out.printf(Locale.ROOT, "epoch %2d loss %.4f, %d steps, %.1f %% of the time waiting for input%n", epoch,
                losses / steps, steps, 100.0 * waited / (System.nanoTime() - start));
        return steps;
    }

    private static float step(Trainer trainer, Batch batch) {
        float value;
        try (GradientCollector gradients = trainer.newGradientCollector()) {
            NDList predicted = trainer.forward(batch.getData(), batch.getLabels());
            NDArray loss = trainer.getLoss().evaluate(batch.getLabels(), predicted);
            gradients.backward(loss);
            value = loss.getFloat();
        }
        trainer.step();
        return value;
    }

    /** The share of pictures that the model names right; each counts once. */
    private static double accuracy(Trainer trainer, PenstockDataset unseen) {
        long right = 0;
        long all = 0;
        for (Batch batch : unseen.getData(trainer.getManager())) {
            try (batch) {
                NDArray guessed = trainer.evaluate(batch.getData()).singletonOrThrow().argMax(1);
                right += guessed.eq(batch.getLabels().singletonOrThrow()).countNonzero().getLong();
                all += batch.getSize();
            }
        }
        if (all != VALIDATION_PICTURES) {
            throw new IllegalStateException(all + " pictures evaluated, expected " + VALIDATION_PICTURES);
        }
        return (double) right / all;
    }
}
