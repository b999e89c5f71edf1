package trainer;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.TranslateException;
import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.diagnose.Diagnosis;
import io.penstock.djl.ModelCheckpoint;
import io.penstock.djl.PenstockDataset;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.state.Checkpoint;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.Locale;
import java.util.Optional;

/** Trains a model on a token store: takes the store and the number of steps. */
public final class Trainer {

    private static final int CONTEXT = 64;
    private static final int BATCH = 4;
    private static final int WIDTH = 16;
    private static final long SEED = 42;
    /** One more than the greatest token id: of gpt2. */
    private static final int TOKENS = 50_257;
    private static final Path CHECKPOINTS = Path.of("checkpoint");
    private static final long SAVE_EVERY = Math.max(1, Long.getLong("saveEvery", 100));

    private static volatile boolean isStopped;

    private Trainer() {
    }

    public static void main(String[] args) throws IOException, ModelException, TranslateException {
        long steps = Long.parseLong(args[1]);
        try (TokenStore store = TokenStore.open(Path.of(args[0])); Model model = Model.newInstance("trainer")) {
            model.setBlock(new Network(TOKENS, WIDTH));
            DataLoaderBuilder settings = DataLoader.builder(TokenWindows.of(store, CONTEXT)).batchSize(BATCH)
                    .shuffle(SEED).collator(CausalLm.widened(DType.I64));
            Optional<Checkpoint> saved = ModelCheckpoint.load(CHECKPOINTS, model);
            saved.ifPresent(checkpoint -> settings.resume(checkpoint.state()));
            long done = saved.map(Checkpoint::step).orElse(0L);
            if (done >= steps) {
                System.out.println("steps count from the start: -Dsteps=" + (done + 100) + " trains for 100 more");
                return;
            }
            if (done > 0) {
                System.out.println("resumed behind step " + done);
            }
            saveOnInterrupt();
            train(model, settings, done, steps);
        }
    }

    private static void train(Model model, DataLoaderBuilder settings, long done, long steps)
            throws IOException, TranslateException {
        var config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                .optInitializer(new NormalInitializer(0.1f), Parameter.Type.WEIGHT)
                .optOptimizer(Optimizer.adam().optLearningRateTracker(Tracker.fixed(0.02f)).build());
        try (DataLoader loader = settings.open();
                Diagnosis diagnosis = Diagnosis.of(loader);
                ai.djl.training.Trainer trainer = model.newTrainer(config)) {
            trainer.initialize(new Shape(BATCH, CONTEXT));
            PenstockDataset windows = PenstockDataset.of(loader).data("input_ids").labels("labels");
            long step = done;
            boolean isLast = false;
            while (!isLast) {
                Iterator<Batch> epoch = windows.getData(trainer.getManager()).iterator();
                while (!isLast && epoch.hasNext()) {
                    float loss;
                    try (Batch batch = epoch.next()) {      // i64 [BATCH, CONTEXT] each; labels are shifted by one
                        loss = step(trainer, batch);
                    }
                    step++;
                    isLast = step == steps || isStopped;
                    if (step == 1 || step % 20 == 0 || isLast) {
                        System.out.printf(Locale.ROOT, "step %d  loss %.4f%n", step, loss);
                    }
                    if (step % SAVE_EVERY == 0 || isLast) {
                        ModelCheckpoint.save(CHECKPOINTS, step, model, loader);
                        System.out.println("saved step " + step + " in " + CHECKPOINTS);
                    }
                }
            }
            System.out.print(diagnosis.summary().text());
        }
    }

    private static float step(ai.djl.training.Trainer trainer, Batch batch) {
        float value;
        try (GradientCollector collector = trainer.newGradientCollector()) {
            NDList scores = trainer.forward(batch.getData());
            NDList labels = new NDList(batch.getLabels().singletonOrThrow().flatten());
            NDArray loss = trainer.getLoss().evaluate(labels, scores);
            collector.backward(loss);
            value = loss.getFloat();
        }
        trainer.step();
        return value;
    }

    /** On Ctrl-C, the step at hand is the last one; the JVM waits for it and its checkpoint. */
    private static void saveOnInterrupt() {
        Thread trainer = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            isStopped = true;
            try {
                trainer.join(Duration.ofSeconds(30));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }
}
