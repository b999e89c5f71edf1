package trainer;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.diagnose.Diagnosis;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.state.Checkpoint;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Trains a model on a token store: takes the store and the number of steps. */
public final class Trainer {

    private static final int CONTEXT = 64;
    private static final int BATCH = 8;
    private static final int WIDTH = 16;
    private static final long SEED = 42;
    private static final Path CHECKPOINTS = Path.of("checkpoint");
    private static final long SAVE_EVERY = Math.max(1, Long.getLong("saveEvery", 100));
    private static final int KEPT_CHECKPOINTS = 2;
    private static final String WEIGHTS = "model.bin";

    private static volatile boolean isStopped;

    private Trainer() {
    }

    public static void main(String[] args) throws IOException {
        long steps = Long.parseLong(args[1]);
        try (TokenStore store = TokenStore.open(Path.of(args[0]))) {
            Model model = Model.of(store, WIDTH, SEED);
            DataLoaderBuilder settings = DataLoader.builder(TokenWindows.of(store, CONTEXT)).batchSize(BATCH)
                    .shuffle(SEED).collator(CausalLm.widened(DType.I32));
            long done = 0;
            Optional<Path> latest = Checkpoint.latest(CHECKPOINTS);
            if (latest.isPresent()) {
                Checkpoint saved = Checkpoint.load(latest.get());
                model.read(latest.get().resolve(WEIGHTS));
                settings.resume(saved.state());
                done = saved.step();
                System.out.println("resumed behind step " + done);
            }
            if (done >= steps) {
                System.out.println("steps count from the start: -Dsteps=" + (done + 100) + " trains for 100 more");
                return;
            }
            saveOnInterrupt();
            train(model, settings, done, steps);
        }
    }

    private static void train(Model model, DataLoaderBuilder settings, long done, long steps) throws IOException {
        try (DataLoader loader = settings.open(); Diagnosis diagnosis = Diagnosis.of(loader)) {
            boolean isLast = false;
            for (long step = done + 1; !isLast; step++) {
                double loss;
                try (Batch batch = loader.next()) {         // i32 [BATCH, CONTEXT] each; labels are shifted by one
                    loss = model.train(batch.tensor("input_ids"), batch.tensor("labels"));
                }
                isLast = step == steps || isStopped;
                if (step == 1 || step % 20 == 0 || isLast) {
                    System.out.printf(Locale.ROOT, "step %d  loss %.4f%n", step, loss);
                }
                if (step % SAVE_EVERY == 0 || isLast) {
                    save(model, loader, step);
                }
            }
            System.out.print(diagnosis.summary().text());
        }
    }

    /** Each step has a folder of its own, so a kill at any moment leaves the previous checkpoint or this one. */
    private static void save(Model model, DataLoader loader, long step) throws IOException {
        Path folder = Checkpoint.newFolder(CHECKPOINTS, step);
        model.write(folder.resolve(WEIGHTS));
        Checkpoint.save(folder, step, loader.state(), WEIGHTS);
        Checkpoint.keepLatest(CHECKPOINTS, KEPT_CHECKPOINTS);
        System.out.println("saved step " + step + " in " + CHECKPOINTS);
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
