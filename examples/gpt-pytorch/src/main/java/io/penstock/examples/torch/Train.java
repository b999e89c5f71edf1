// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import io.penstock.device.Device;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Summary;
import io.penstock.loader.DataLoader;
import io.penstock.pytorch.TorchBatch;
import io.penstock.pytorch.TorchBatches;
import io.penstock.pytorch.TorchCheckpoint;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.Checkpoint;
import io.penstock.state.StateMismatchException;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.Phase;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.AutoGradMode;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.DeviceType;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** Trains a {@link Model} on a token store. A run that is killed goes on from its newest checkpoint. */
public final class Train {

    private final Flags flags;
    private final Path out;
    private final Ranks ranks;
    private final boolean isOnGpu;
    private final boolean isBf16;

    Train(Flags flags) {
        this.flags = flags;
        this.out = flags.path("--out");
        this.isOnGpu = flags.oneOf("--device", "cpu", "cuda").equals("cuda");
        if (isOnGpu && !torch.cuda_is_available()) {
            throw new IllegalArgumentException("--device: found cuda, which this PyTorch cannot use, expected cpu, or"
                    + " the presets with the classifier linux-x86_64-gpu on a machine with a GPU");
        }
        String precision = flags.oneOf("--precision", "auto", "f32", "bf16");
        this.isBf16 = precision.equals("bf16") || precision.equals("auto") && isOnGpu;
        this.ranks = Ranks.of(System.getenv(), flags.text("--meeting"), isOnGpu);
    }

    static Flags flags(String... args) {
        return Flags.of(args, "--store", "", "--out", "run", "--size", "tiny", "--context", "128", "--batch", "8",
                "--accumulate", "1", "--steps", "200", "--epochs", "0", "--rate", "0.002", "--warmup", "20", "--seed",
                "42", "--device", "cpu", "--threads", String.valueOf(Runtime.getRuntime().availableProcessors()),
                "--vocabulary", "found", "--print-every", "20", "--validate-every", "100", "--save-every", "50",
                "--stop-after", "0", "--precision", "auto", "--meeting", "", "--audit", "false");
    }

    /** Trains with options, see the README. */
    public static void main(String[] args) throws IOException {
        try {
            new Train(flags(args)).run();
        } catch (IllegalArgumentException e) {
            System.err.println("train: " + e.getMessage());
            System.exit(2);
        } catch (StateMismatchException e) {
            System.err.println("train: " + e.getMessage()
                    + "; go on with the options of that run, or pass another --out");
            System.exit(2);
        }
    }

    /** Returns the validation loss at the end; NaN if none was computed. */
    double run() throws IOException {
        long began = System.nanoTime();
        Files.createDirectories(out);
        Model.useThreads(flags.whole("--threads"));
        torch.manual_seed(flags.whole("--seed"));
        Device device = isOnGpu ? Device.cuda(ranks.gpu()) : Device.host();
        try (device; Input input = Input.open(flags.path("--store"), flags.whole("--context"))) {
            Model model = new Model(Size.named(flags.text("--size")), flags.whole("--context"),
                    flags.text("--vocabulary").equals("found") ? input.tokens() : new long[0],
                    isOnGpu ? new org.bytedeco.pytorch.Device(DeviceType.CUDA, (byte) ranks.gpu()) : Model.cpu());
            try (Optimizing optimizing = new Optimizing(model, ranks)) {
                TorchCheckpoint checkpoints = TorchCheckpoint.of(model.parameters(), optimizing.optimizer());
                Optional<Checkpoint> saved = checkpoints.load(out);
                if (ranks.rank() == 0) {
                    System.out.printf(Locale.ROOT, "text     %s%nmodel    %,d weights%s%n", input, model.weights(),
                            saved.map(each -> ", of step " + each.step()).orElse(""));
                }
                Shard shard = ranks.count() == 1 ? Shard.whole() : Shard.fromEnvironment(TailPolicy.EXACT);
                try (DataLoader loader = input.training(flags.whole("--batch"), flags.whole("--seed"),
                        flags.whole("--epochs"), shard, saved.map(Checkpoint::state).orElse(null), device);
                        DataLoader validation = input.validation(flags.whole("--batch"), device)) {
                    return train(model, optimizing, checkpoints, loader, validation,
                            saved.map(Checkpoint::step).orElse(0L), began);
                }
            }
        }
    }

    private double train(Model model, Optimizing optimizing, TorchCheckpoint checkpoints, DataLoader loader,
            DataLoader validation, long firstStep, long began) throws IOException {
        long steps = flags.whole("--steps");
        long end = flags.whole("--stop-after") > 0 ? Math.min(steps, flags.whole("--stop-after")) : steps;
        double validationLoss = Double.NaN;
        TorchBatches batches = TorchBatches.of(loader);
        try (Diagnosis diagnosis = Diagnosis.of(loader);
                PrintStream log = log("losses-" + ranks.rank() + ".csv", firstStep);
                PrintStream audit = flags.isOn("--audit")
                        ? log("positions-" + firstStep + "-" + ranks.rank() + ".txt", 0)
                        : new PrintStream(PrintStream.nullOutputStream())) {
            LoaderReport report = loader.report();
            long printed = System.nanoTime();
            long tokens = 0;
            long step = firstStep;
            while (step < end && batches.hasNext()) {
                step++;
                optimizing.begin();
                double sum = 0;
                double labels = 0;
                long epoch = loader.currentEpoch();
                for (int micro = 0; micro < flags.whole("--accumulate") && batches.hasNext()
                        && loader.currentEpoch() == epoch; micro++) {
                    try (PointerScope _ = new PointerScope(); TorchBatch batch = batches.next()) {
                        long rows = batch.batch().valid();
                        audit(audit, step, batch);
                        if (rows > 0) {
                            diagnosis.begin(Phase.FORWARD);
                            Model.Loss loss = forward(model, batch, rows);
                            diagnosis.begin(Phase.BACKWARD);
                            loss.sum().backward();
                            diagnosis.end();
                            sum += loss.sum().item_double();
                            labels += loss.labels().item_double();
                        }
                        tokens += rows * flags.whole("--context");
                    }
                }
                diagnosis.begin(Phase.OPTIMIZER);
                double mean = optimizing.end(sum, labels, rate(step));
                diagnosis.end();
                log.println(step + "," + mean);
                if (step == firstStep + 1 && ranks.rank() == 0) {
                    System.out.printf(Locale.ROOT, "step %,d  loss %.6f  %.2f s after the start%n", step, mean,
                            (System.nanoTime() - began) / 1e9);
                }
                boolean last = step == end || !batches.hasNext();
                if (ranks.rank() == 0 && (step % flags.whole("--print-every") == 0 || last)) {
                    double nanos = System.nanoTime() - printed;
                    LoaderReport now = loader.report();
                    System.out.printf(Locale.ROOT, "step %,d/%,d  loss %.4f  %,.0f tokens/s  input %.3f %% of the"
                            + " step%n", step, steps, mean, tokens * 1e9 / nanos,
                            100 * now.since(report).consumerWaitNanos() / nanos);
                    report = now;
                    printed = System.nanoTime();
                    tokens = 0;
                }
                if (ranks.rank() == 0 && (step % flags.whole("--validate-every") == 0 || last)) {
                    validationLoss = evaluate(model, validation);
                    System.out.printf(Locale.ROOT, "         validation loss %.4f%n", validationLoss);
                    printed = System.nanoTime();
                }
                if (step % flags.whole("--save-every") == 0 || last) {
                    log.flush();
                    audit.flush();
                    if (ranks.rank() == 0) {
                        checkpoints.save(out, step, loader);
                    }
                    printed = System.nanoTime();
                }
            }
            if (firstStep < step && ranks.rank() == 0) {
                Summary summary = diagnosis.summary();
                summary.write(out.resolve("diagnosis"));
                System.out.println(summary.text());
            }
        }
        return validationLoss;
    }

    private Model.Loss forward(Model model, TorchBatch batch, long rows) {
        if (!isBf16) {
            return model.loss(batch, rows);
        }
        DeviceType device = isOnGpu ? DeviceType.CUDA : DeviceType.CPU;
        torch.set_autocast_dtype(device, ScalarType.BFloat16);
        torch.set_autocast_cache_enabled(false);                            // it would outlive a step's weights
        torch.set_autocast_enabled(device, true);
        try {
            return model.loss(batch, rows);
        } finally {
            torch.set_autocast_enabled(device, false);
        }
    }

    private double evaluate(Model model, DataLoader validation) {
        double sum = 0;
        double labels = 0;
        for (TorchBatch batch : TorchBatches.of(validation).epoch(0)) {
            try (PointerScope _ = new PointerScope(); AutoGradMode _ = new AutoGradMode(false); batch) {
                Model.Loss loss = forward(model, batch, batch.batch().valid());
                sum += loss.sum().item_double();
                labels += loss.labels().item_double();
            }
        }
        return sum / labels;
    }

    private static void audit(PrintStream audit, long step, TorchBatch batch) {
        StringBuilder line = new StringBuilder().append(step);
        for (int row = 0; row < batch.batch().valid(); row++) {
            line.append(' ').append(batch.batch().position(row));
        }
        audit.println(line);
    }

    /** A log of a line a step, without those that a killed run wrote behind its last checkpoint. */
    private PrintStream log(String name, long steps) throws IOException {
        Path file = out.resolve(name);
        List<String> kept = steps > 0 && Files.exists(file)
                ? Files.readAllLines(file).stream().limit(steps).toList() : List.of();
        Files.write(file, kept);
        return new PrintStream(Files.newOutputStream(file, StandardOpenOption.APPEND), true);
    }

    /** Linear warm-up, then a cosine down to a tenth. */
    private double rate(long step) {
        double warmup = flags.number("--warmup");
        double rate = flags.number("--rate");
        if (step < warmup) {
            return rate * step / warmup;
        }
        double done = Math.min(1, (step - warmup) / Math.max(1, flags.number("--steps") - warmup));
        return rate * (0.55 + 0.45 * StrictMath.cos(Math.PI * done));
    }
}
