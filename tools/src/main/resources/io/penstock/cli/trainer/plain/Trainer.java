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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Trains a model on a token store: takes the store and the number of steps. */
public final class Trainer {

    private static final int CONTEXT = 64;
    private static final int BATCH = 8;
    private static final int WIDTH = 16;
    private static final long SEED = 42;
    private static final Path CHECKPOINT = Path.of("checkpoint");
    private static final String WEIGHTS = "model.bin";

    private Trainer() {
    }

    public static void main(String[] args) throws IOException {
        long steps = Long.parseLong(args[1]);
        try (TokenStore store = TokenStore.open(Path.of(args[0]))) {
            Model model = Model.of(store, WIDTH, SEED);
            DataLoaderBuilder settings = DataLoader.builder(TokenWindows.of(store, CONTEXT)).batchSize(BATCH)
                    .shuffle(SEED).collator(CausalLm.widened(DType.I32));
            long done = 0;
            if (Files.exists(CHECKPOINT.resolve(Checkpoint.FILE_NAME))) {
                Checkpoint saved = Checkpoint.load(CHECKPOINT);
                model.read(CHECKPOINT.resolve(WEIGHTS));
                settings.resume(saved.state());
                done = saved.step();
                System.out.println("resumed behind step " + done);
            }
            if (done >= steps) {
                System.out.println("steps count from the start: -Dsteps=" + (done + 100) + " trains for 100 more");
                return;
            }
            train(model, settings, done, steps);
        }
    }

    private static void train(Model model, DataLoaderBuilder settings, long done, long steps) throws IOException {
        try (DataLoader loader = settings.open(); Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (long step = done + 1; step <= steps; step++) {
                double loss;
                try (Batch batch = loader.next()) {         // i32 [BATCH, CONTEXT] each; labels are shifted by one
                    loss = model.train(batch.tensor("input_ids"), batch.tensor("labels"));
                }
                if (step == 1 || step % 20 == 0 || step == steps) {
                    System.out.printf(Locale.ROOT, "step %d  loss %.4f%n", step, loss);
                }
            }
            Files.createDirectories(CHECKPOINT);
            model.write(CHECKPOINT.resolve(WEIGHTS));
            Checkpoint.save(CHECKPOINT, steps, loader.state(), WEIGHTS);
            System.out.print(diagnosis.summary().text());
        }
    }
}
