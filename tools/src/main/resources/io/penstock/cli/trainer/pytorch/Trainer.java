package trainer;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.diagnose.Diagnosis;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.pytorch.TorchBatch;
import io.penstock.pytorch.TorchBatches;
import io.penstock.pytorch.TorchCheckpoint;
import io.penstock.state.Checkpoint;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.AdamW;
import org.bytedeco.pytorch.AdamWOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

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

    public static void main(String[] args) throws IOException {
        long steps = Long.parseLong(args[1]);
        torch.manual_seed(SEED);
        Network network = new Network(TOKENS, WIDTH);
        try (TokenStore store = TokenStore.open(Path.of(args[0]));
                AdamW optimizer = new AdamW(network.parameters(), new AdamWOptions(0.02))) {
            DataLoaderBuilder settings = DataLoader.builder(TokenWindows.of(store, CONTEXT)).batchSize(BATCH)
                    .shuffle(SEED).collator(CausalLm.widened(DType.I64)).leases(LeaseMode.REUSED);
            TorchCheckpoint run = TorchCheckpoint.of(network.tensors(), optimizer);
            Optional<Checkpoint> saved = run.load(CHECKPOINTS);
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
            train(network, optimizer, run, settings, done, steps);
        }
    }

    private static void train(Network network, AdamW optimizer, TorchCheckpoint run, DataLoaderBuilder settings,
            long done, long steps) throws IOException {
        try (DataLoader loader = settings.open(); Diagnosis diagnosis = Diagnosis.of(loader)) {
            TorchBatches batches = TorchBatches.of(loader);
            boolean isLast = false;
            for (long step = done + 1; !isLast; step++) {
                isLast = step == steps || isStopped;
                // The scope frees what the step computes; the batch ends before it.
                try (PointerScope _ = new PointerScope(); TorchBatch batch = batches.next()) {
                    optimizer.zero_grad();
                    Tensor scores = network.forward(batch.indices("input_ids"));        // i64 [BATCH, CONTEXT]
                    Tensor loss = torch.cross_entropy_loss(scores, batch.indices("labels").view(-1));
                    loss.backward();
                    optimizer.step();
                    if (step == 1 || step % 20 == 0 || isLast) {
                        System.out.printf(Locale.ROOT, "step %d  loss %.4f%n", step, loss.item_float());
                    }
                }
                if (step % SAVE_EVERY == 0 || isLast) {
                    run.save(CHECKPOINTS, step, loader);
                    System.out.println("saved step " + step + " in " + CHECKPOINTS);
                }
            }
            System.out.print(diagnosis.summary().text());
        }
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
