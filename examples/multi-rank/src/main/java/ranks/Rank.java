// SPDX-License-Identifier: Apache-2.0
package ranks;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.TokenWindows;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.Checkpoint;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * One rank: trains to the end of the epoch, from the last checkpoint if there is one. Takes the store, the run's folder
 * and the socket; the environment has RANK and WORLD_SIZE.
 */
final class Rank {

    static final int CONTEXT = 64;
    private static final int BATCH = 8;
    private static final int WIDTH = 16;
    private static final long SEED = 42;
    private static final int CHECKPOINT_STEPS = 5;
    private static final String WEIGHTS = "model.bin";

    private Rank() {
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Path run = Path.of(args[1]);
        Shard shard = Shard.fromEnvironment(TailPolicy.EXACT);
        try (TokenStore store = TokenStore.open(Path.of(args[0]))) {
            Dataset windows = TokenWindows.of(store, CONTEXT);
            Model model = Model.of(windows, WIDTH, SEED);
            DataLoaderBuilder settings = DataLoader.builder(windows).batchSize(BATCH).shuffle(SEED).shard(shard)
                    .collator(CausalLm.widened(DType.I32)).workers(1);
            long done = 0;
            Optional<Path> latest = Checkpoint.latest(run);
            if (latest.isPresent()) {
                Checkpoint saved = Checkpoint.load(latest.get());
                model.read(latest.get().resolve(WEIGHTS));
                settings.resume(saved.state());
                done = saved.step();
            }
            Path log = run.resolve("samples-" + done + "-" + shard.rank() + ".txt");
            try (DataLoader loader = settings.open();
                    AllReduce ranks = AllReduce.connect(Path.of(args[2]), shard.rank(), shard.worldSize(),
                            model.gradients().length);
                    PrintStream samples = new PrintStream(log.toFile())) {
                train(model, loader, ranks, shard.rank() == 0 ? run : null, done, samples);
            }
        }
    }

    /**
     * Trains to the end of the epoch.
     *
     * @param run where to save checkpoints; null for ranks that save none
     * @param samples gets a line a step: its number, and the samples that counted
     */
    private static void train(Model model, DataLoader loader, AllReduce ranks, Path run, long done, PrintStream samples)
            throws IOException {
        long step = done;
        for (Batch batch : loader.epoch()) {
            step++;
            StringBuilder line = new StringBuilder().append(step);
            try (batch) {
                model.differentiate(batch.tensor("input_ids"), batch.tensor("labels"), batch.valid());
                for (int row = 0; row < batch.valid(); row++) {
                    line.append(' ').append(batch.sample(row));
                }
            }
            ranks.sum(model.gradients());
            double loss = model.apply();
            samples.println(line);
            if (run != null) {
                if (step % 10 == 0) {
                    System.out.printf(Locale.ROOT, "  step %d  loss %.4f%n", step, loss);
                }
                if (step % CHECKPOINT_STEPS == 0) {
                    save(model, loader, run, step);
                }
            }
        }
    }

    /** Each step has a folder of its own: until the new checkpoint is there, the old one is whole. */
    private static void save(Model model, DataLoader loader, Path run, long step) throws IOException {
        Path folder = Checkpoint.newFolder(run, step);
        model.write(folder.resolve(WEIGHTS));
        Checkpoint.save(folder, step, loader.state(), WEIGHTS);
        Checkpoint.keepLatest(run, 1);
    }
}
