// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.resnet;

import io.penstock.device.Device;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Summary;
import io.penstock.loader.DataLoader;
import io.penstock.pytorch.TorchBatch;
import io.penstock.pytorch.TorchBatches;
import io.penstock.pytorch.TorchCheckpoint;
import io.penstock.state.Checkpoint;
import io.penstock.state.StateMismatchException;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.AutoGradMode;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Trains a {@link ResNet} on pictures from tars. A run that is killed goes on from its newest checkpoint. */
final class Train {

    private final Flags flags;
    private final Path out;

    Train(Flags flags) {
        this.flags = flags;
        this.out = flags.path("--out");
        if (flags.text("--device").equals("cuda") && !torch.cuda_is_available()) {
            throw new IllegalArgumentException("--device: found cuda, which this PyTorch cannot use, expected cpu, or"
                    + " the presets with the classifier linux-x86_64-gpu on a machine with a GPU");
        }
    }

    static Flags flags(String... args) {
        return Flags.of(args, "--pictures", "work/pictures", "--out", "work/run", "--draw", "1000", "--divide", "1",
                "--blocks", "1", "--width", "16", "--side", "64", "--batch", "64", "--epochs", "8", "--rate", "0.1",
                "--seed", "42", "--device", "cpu", "--threads",
                String.valueOf(Runtime.getRuntime().availableProcessors()), "--workers", "1", "--print-every", "10",
                "--save-every", "10", "--stop-after", "0");
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

    /** Draws pictures where there are none: a fifth as many for validation. */
    static void draw(Flags flags) throws IOException {
        Path folder = flags.path("--pictures");
        int pictures = flags.whole("--draw");
        Drawings.write(folder.resolve("train"), pictures, flags.whole("--divide"), 1);
        Drawings.write(folder.resolve("validation"), pictures / 5, flags.whole("--divide"), 2);
    }

    /** Returns the accuracy on the validation set at the end; NaN if the run was stopped before. */
    double run() throws IOException {
        Files.createDirectories(out);
        ResNet.useThreads(flags.whole("--threads"));
        torch.manual_seed(flags.whole("--seed"));
        draw(flags);
        Device device = flags.text("--device").equals("cuda") ? Device.cuda(0) : Device.host();
        try (device; Input input = Input.open(flags.path("--pictures"), flags.whole("--side"), flags.whole("--batch"),
                flags.whole("--workers"))) {
            ResNet net = new ResNet(flags.whole("--blocks"), flags.whole("--width"), Drawings.KINDS,
                    flags.text("--device"));
            try (Optimizing optimizing = new Optimizing(net)) {
                TorchCheckpoint checkpoints = TorchCheckpoint.of(net.tensors(), optimizing.optimizer());
                Optional<Checkpoint> saved = checkpoints.load(out);
                System.out.printf(Locale.ROOT, "%,d pictures, %,d weights%s%n", input.pictures(), net.weightCount(),
                        saved.map(each -> ", of step " + each.step()).orElse(""));
                try (DataLoader loader = input.training(flags.whole("--seed"),
                        saved.map(Checkpoint::state).orElse(null), device);
                        DataLoader validation = input.validation(device)) {
                    return train(net, optimizing, checkpoints, loader, validation, input.pictures(),
                            saved.map(Checkpoint::step).orElse(0L));
                }
            }
        }
    }

    private double train(ResNet net, Optimizing optimizing, TorchCheckpoint checkpoints, DataLoader loader,
            DataLoader validation, long pictures, long firstStep) throws IOException {
        TorchBatches batches = TorchBatches.of(loader);
        long steps = flags.whole("--epochs") * Math.ceilDiv(pictures, flags.whole("--batch"));
        long stop = flags.whole("--stop-after");
        List<String> losses = losses(firstStep);
        try (Diagnosis diagnosis = Diagnosis.of(loader)) {
            long step = firstStep;
            LoaderReport report = loader.report();
            long printed = System.nanoTime();
            long done = 0;
            while (loader.currentEpoch() < flags.whole("--epochs") && (stop == 0 || step < stop)) {
                try (PointerScope _ = new PointerScope(); TorchBatch batch = batches.next()) {
                    diagnosis.begin(Phase.COMPUTE);
                    step++;
                    double loss = optimizing.step(batch.get("image"), batch.indices("label"), rate(step, steps));
                    diagnosis.end();
                    losses.add(step + "," + loss);
                    done += batch.batch().count();
                    if (step % flags.whole("--print-every") == 0) {
                        double nanos = System.nanoTime() - printed;
                        System.out.printf(Locale.ROOT, "step %,d/%,d  loss %.4f  %,.1f images/s  input %.2f %% of the"
                                + " step%n", step, steps, loss, done * 1e9 / nanos,
                                100 * loader.report().since(report).consumerWaitNanos() / nanos);
                    }
                }
                if (step % flags.whole("--print-every") == 0) {
                    report = loader.report();
                    printed = System.nanoTime();
                    done = 0;
                }
                if (step % flags.whole("--save-every") == 0 || loader.currentEpoch() == flags.whole("--epochs")) {
                    Files.write(out.resolve("losses.csv"), losses);
                    checkpoints.save(out, step, loader);
                }
            }
            if (step > firstStep) {
                Summary summary = diagnosis.summary();
                summary.write(out.resolve("diagnosis"));
                System.out.println(summary.text());
            }
            return loader.currentEpoch() < flags.whole("--epochs") ? Double.NaN : accuracy(net, validation);
        }
    }

    /** Those of the steps that the checkpoint is behind. */
    private List<String> losses(long steps) throws IOException {
        Path file = out.resolve("losses.csv");
        return steps == 0 || !Files.exists(file) ? new ArrayList<>()
                : new ArrayList<>(Files.readAllLines(file).subList(0, Math.toIntExact(steps)));
    }

    /** The share of pictures whose class has the greatest score; each counts once. */
    private static double accuracy(ResNet net, DataLoader validation) {
        long right = 0;
        long all = 0;
        for (TorchBatch batch : TorchBatches.of(validation).epoch(0)) {
            try (PointerScope _ = new PointerScope(); AutoGradMode _ = new AutoGradMode(false); batch) {
                Tensor guessed = torch.argmax(net.scores(batch.get("image"), false), new LongOptional(1), false);
                right += guessed.eq(batch.indices("label")).sum().item_long();
                all += batch.batch().count();
            }
        }
        System.out.printf(Locale.ROOT, "%,d of %,d pictures of validation named right%n", right, all);
        return (double) right / all;
    }

    /** Linear over the first tenth, then a cosine down to nothing. */
    private double rate(long step, long steps) {
        double warmup = Math.max(1, steps / 10.0);
        double done = Math.min(1, Math.max(0, step - warmup) / Math.max(1, steps - warmup));
        return flags.number("--rate") * Math.min(1, step / warmup) * (0.5 + 0.5 * StrictMath.cos(Math.PI * done));
    }
}
