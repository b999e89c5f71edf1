// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import io.penstock.state.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Models that train on a loader's batches, with the real PyTorch engine on the CPU. */
class TrainingTest {

    private static final long SAMPLES = 512;
    private static final int BATCH = 32;

    @ParameterizedTest
    @EnumSource(value = LeaseMode.class, names = {"CONFINED", "REUSED"})
    void easyTrainFitsAModel(LeaseMode leases) throws Exception {
        try (Model model = model();
                Trainer trainer = trainer(model);
                DataLoader training = DataLoader.builder(Samples.ofPoints(SAMPLES)).batchSize(BATCH).shuffle(1)
                        .leases(leases).open();
                DataLoader validation = DataLoader.builder(Samples.ofPoints(100)).batchSize(BATCH).leases(leases)
                        .open()) {
            PenstockDataset points = PenstockDataset.of(training).data("point").labels("kind");
            PenstockDataset check = PenstockDataset.of(validation).data("point").labels("kind");
            double before = loss(trainer, check);
            EasyTrain.fit(trainer, 8, points, check);
            double after = loss(trainer, check);
            assertTrue(after < before / 4, before + " fell to " + after);
            assertEquals(8, training.currentEpoch());
            assertTrue(trainer.getTrainingResult().getValidateEvaluation("Accuracy") > 0.95,
                    trainer.getTrainingResult()::toString);
        }
    }

    @ParameterizedTest
    @EnumSource(value = LeaseMode.class, names = {"CONFINED", "REUSED"})
    void aLoopOfOnesOwnTrainsAModel(LeaseMode leases) throws Exception {
        try (Model model = model();
                Trainer trainer = trainer(model);
                DataLoader loader = DataLoader.builder(Samples.ofPoints(SAMPLES)).batchSize(BATCH).shuffle(1)
                        .leases(leases).open()) {
            PenstockDataset points = PenstockDataset.of(loader).data("point").labels("kind");
            List<Double> losses = new ArrayList<>();
            for (int epoch = 0; epoch < 8; epoch++) {
                for (Batch batch : points.getData(trainer.getManager())) {
                    try (batch) {
                        losses.add(step(trainer, batch));
                    }
                }
            }
            assertEquals(8 * SAMPLES / BATCH, losses.size());
            assertTrue(losses.getLast() < losses.getFirst() / 4, losses::toString);
        }
    }

    @Test
    void aRunResumesInTheMiddleOfAnEpochWithTheSameBatchesAndLosses(@TempDir Path folder) throws Exception {
        int saveAt = 10;
        int steps = 24;
        List<List<Long>> samples = new ArrayList<>();
        List<Double> losses = new ArrayList<>();
        try (Model model = model();
                Trainer trainer = trainer(model);
                DataLoader loader = DataLoader.builder(Samples.ofPoints(SAMPLES)).batchSize(BATCH).shuffle(1).open()) {
            assertEquals(Optional.empty(), ModelCheckpoint.load(folder, model));
            run(trainer, loader, saveAt, samples, losses);
            ModelCheckpoint.save(folder, saveAt, model, loader);
            run(trainer, loader, steps - saveAt, samples, losses);
        }
        try (Model model = model()) {
            Checkpoint saved = ModelCheckpoint.load(folder, model).orElseThrow();
            assertEquals(saveAt, saved.step());
            List<List<Long>> again = new ArrayList<>();
            List<Double> lossesAgain = new ArrayList<>();
            try (Trainer trainer = trainer(model);
                    DataLoader loader = DataLoader.builder(Samples.ofPoints(SAMPLES)).batchSize(BATCH).shuffle(1)
                            .resume(saved.state()).open()) {
                run(trainer, loader, steps - saveAt, again, lossesAgain);
            }
            assertEquals(samples.subList(saveAt, steps), again);
            for (int i = 0; i < again.size(); i++) {
                assertEquals(losses.get(saveAt + i), lossesAgain.get(i), 1e-6);
            }
        }
    }

    @Test
    void aNewCheckpointReplacesTheOlderOne(@TempDir Path folder) throws Exception {
        try (Model model = model();
                Trainer trainer = trainer(model);
                DataLoader loader = DataLoader.builder(Samples.ofPoints(SAMPLES)).batchSize(BATCH).open()) {
            ModelCheckpoint.save(folder, 1, model, loader);
            Files.createDirectory(folder.resolve("step-00000002"));          // of a run that was killed
            Files.createFile(folder.resolve("step-00000002/model.params"));
            Files.createFile(folder.resolve("notes.txt"));
            assertEquals(1, ModelCheckpoint.load(folder, model).orElseThrow().step());
            ModelCheckpoint.save(folder, 1, model, loader);
            assertEquals(List.of("notes.txt", "step-00000001-2", "step-00000002"), files(folder));
            run(trainer, loader, 2, new ArrayList<>(), new ArrayList<>());
            ModelCheckpoint.save(folder, 3, model, loader);
            assertEquals(List.of("notes.txt", "step-00000003"), files(folder));
        }
    }

    @Test
    void aDamagedCheckpointIsRefused(@TempDir Path folder) throws Exception {
        try (Model model = model();
                Trainer _ = trainer(model);
                DataLoader loader = DataLoader.builder(Samples.ofPoints(SAMPLES)).batchSize(BATCH).open()) {
            ModelCheckpoint.save(folder, 5, model, loader);
            Path parameters = folder.resolve("step-00000005/model.params");
            byte[] bytes = Files.readAllBytes(parameters);
            bytes[bytes.length / 2] ^= 1;
            Files.write(parameters, bytes);
            String message = assertThrows(IOException.class, () -> ModelCheckpoint.load(folder, model)).getMessage();
            assertTrue(message.contains("model.params has different content"), message);
            Checkpoint.save(Checkpoint.newFolder(folder, 6), 6, loader.state());
            String other = assertThrows(IOException.class, () -> ModelCheckpoint.load(folder, model)).getMessage();
            assertTrue(other.endsWith("the checkpoint has the files [], expected model.params"), other);
        }
    }

    // ---- support

    private static Model model() {
        Model model = Model.newInstance("points");
        model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(16).build()).add(Activation.reluBlock())
                .add(Linear.builder().setUnits(4).build()));
        return model;
    }

    private static Trainer trainer(Model model) {
        Trainer trainer = model.newTrainer(new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                .optOptimizer(Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.5f)).build())
                .addEvaluator(new Accuracy())
                .addTrainingListeners(TrainingListener.Defaults.basic()));
        trainer.initialize(new Shape(BATCH, 8));
        return trainer;
    }

    private static double step(Trainer trainer, Batch batch) {
        double value;
        try (var collector = trainer.newGradientCollector()) {
            NDList predicted = trainer.forward(batch.getData(), batch.getLabels());
            NDArray loss = trainer.getLoss().evaluate(batch.getLabels(), predicted);
            collector.backward(loss);
            value = loss.getFloat();
        }
        trainer.step();
        return value;
    }

    private static void run(Trainer trainer, DataLoader loader, int steps, List<List<Long>> samples,
            List<Double> losses) throws Exception {
        PenstockDataset points = PenstockDataset.of(loader).data("point").labels("kind");
        int done = 0;
        while (done < steps) {
            var batches = points.getData(trainer.getManager()).iterator();
            while (done < steps && batches.hasNext()) {
                try (Batch batch = batches.next()) {
                    samples.add(batch.getIndices().stream().map(index -> (Long) index).toList());
                    losses.add(step(trainer, batch));
                    done++;
                }
            }
        }
    }

    private static double loss(Trainer trainer, PenstockDataset dataset) throws Exception {
        double sum = 0;
        long rows = 0;
        for (Batch batch : dataset.getData(trainer.getManager())) {
            try (batch) {
                NDList predicted = trainer.evaluate(batch.getData());
                sum += trainer.getLoss().evaluate(batch.getLabels(), predicted).getFloat() * batch.getSize();
                rows += batch.getSize();
            }
        }
        return sum / rows;
    }

    private static List<String> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
