// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.device.Device;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.metrics.Metrics;
import io.penstock.diagnose.metrics.PrometheusEndpoint;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.state.LoaderState;
import io.penstock.telemetry.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Trains a {@link Model} on two token stores. A run that is killed goes on from its newest checkpoint. */
public final class Train {

    /** What decides the losses: a run goes on only with the same. Threads are not among them. */
    private static final List<String> FIXED = List.of("--device", "--input", "--weights", "--steps", "--batch",
            "--context", "--layers", "--heads", "--width", "--rate", "--warmup", "--validate-every", "--seed");

    private static final String CPU = "cpu";

    private final Flags flags;
    private final Path out;
    private final Checkpoints checkpoints;

    Train(Flags flags) {
        this.flags = flags;
        this.out = flags.path("--out");
        this.checkpoints = new Checkpoints(out, flags.isOn("--keep-checkpoints"));
    }

    static Flags flags(String... args) {
        return Flags.of(args, "--first", "", "--second", "", "--weights", "0.7,0.3", "--out", "run", "--resume",
                "false", "--device", CPU, "--input", "packed", "--steps", "300", "--batch", "16", "--context", "128",
                "--layers", "4", "--heads", "4", "--width", "128", "--rate", "0.002", "--warmup", "40", "--seed", "42",
                "--threads", String.valueOf(Runtime.getRuntime().availableProcessors()), "--print-every", "20",
                "--validate-every", "50", "--save-every", "50", "--metrics-port", "0", "--ledger", "false",
                "--keep-checkpoints", "false");
    }

    /** Trains with options, see the README. */
    public static void main(String[] args) throws IOException {
        try {
            new Train(flags(args)).run();
        } catch (IllegalArgumentException e) {
            System.err.println("train: " + e.getMessage());
            System.exit(2);
        } catch (DeviceUnavailableException e) {
            System.err.println("train: " + e.getMessage());
            System.exit(1);
        }
    }

    /** Returns the validation loss at the end. */
    double run() throws IOException {
        Files.createDirectories(out);
        Optional<Checkpoints.Saved> saved = checkpoints.newest();
        if (saved.isPresent()) {
            checkResumable(saved.get());
        }
        try (Ops ops = openOps();
                Input input = Input.open(flags.path("--first"), flags.path("--second"), flags.whole("--context"),
                        flags.oneOf("--input", Input.Form.class))) {
            Vocabulary vocabulary = saved.isPresent() ? saved.get().vocabulary() : input.vocabulary();
            Shape shape = new Shape(vocabulary.paddedSize(), flags.whole("--context"), flags.whole("--layers"),
                    flags.whole("--heads"), flags.whole("--width"));
            Model model = new Model(shape, ops, flags.whole("--batch"));
            LoaderState state = null;
            long step = 0;
            if (saved.isPresent()) {
                saved.get().readWeights(model);
                saved.get().readAverages(model);
                state = saved.get().checkpoint().state();
                step = saved.get().checkpoint().step();
            } else {
                model.initialize(flags.whole("--seed"));
            }
            System.out.printf(Locale.ROOT, "text     %s%nmodel    %,d weights, vocabulary of %,d tokens%n", input,
                    model.parameters().stream().mapToLong(each -> each.weight().size()).sum(), vocabulary.size());
            return train(input, vocabulary, ops, model, state, step);
        }
    }

    private Ops openOps() {
        String device = flags.text("--device");
        if (device.equals(CPU)) {
            return new CpuOps(flags.whole("--threads"));
        }
        if (!device.matches("cuda(:[0-9]+)?")) {
            throw new IllegalArgumentException("--device: found " + device + ", expected cpu, cuda or cuda:N");
        }
        return CudaOps.open(Device.open(device));
    }

    private Map<String, String> fixed() {
        Map<String, String> fixed = flags.only(FIXED);
        fixed.computeIfPresent("--device", (_, device) -> device.split(":")[0]);       // any GPU
        return fixed;
    }

    private void checkResumable(Checkpoints.Saved saved) {
        if (!flags.isOn("--resume")) {
            throw new IllegalArgumentException(saved.folder() + ": found a checkpoint: pass --resume to go on, or"
                    + " another --out");
        }
        fixed().forEach((name, value) -> {
            if (!value.equals(saved.options().get(name))) {
                throw new IllegalArgumentException(name + ": found " + value + ", expected "
                        + saved.options().get(name) + " as in " + saved.folder());
            }
        });
    }

    private double train(Input input, Vocabulary vocabulary, Ops ops, Model model, LoaderState state, long firstStep)
            throws IOException {
        long steps = flags.whole("--steps");
        int batchSize = flags.whole("--batch");
        AdamW optimizer = new AdamW(ops, model.parameters());
        TokenBatch tokens = ops.tokens(batchSize, model.shape().context(), vocabulary);
        Losses losses = ops.losses();
        double validationLoss = Double.NaN;
        try (DataLoader loader = input.training(batchSize, flags.numbers("--weights"), flags.whole("--seed"), state,
                ops.device(), flags.isOn("--ledger") ? out.resolve("ledger") : null);
                DataLoader validation = input.validation(batchSize, ops.device());
                Diagnosis diagnosis = Diagnosis.of(loader);
                PrometheusEndpoint _ = publish(Metrics.of(Input.TRAINING, loader));
                LossLog log = LossLog.open(out.resolve("losses.csv"), firstStep)) {
            Meter meter = new Meter(loader);
            int unread = 0;
            for (long step = firstStep + 1; step <= steps; step++) {
                double rate = rate(step);
                try (Batch batch = tokens.next(loader)) {
                    diagnosis.begin(Phase.FORWARD);
                    tokens.read(batch);
                    model.forward(tokens);
                    model.loss(tokens, losses, unread++);
                    diagnosis.begin(Phase.BACKWARD);
                    model.backward(tokens);
                    diagnosis.begin(Phase.OPTIMIZER);
                    optimizer.step(step, rate);
                    diagnosis.end();
                }
                boolean prints = isDue("--print-every", step);
                boolean validates = isDue("--validate-every", step);
                boolean saves = isDue("--save-every", step);
                if (unread < losses.slots() && !prints && !validates && !saves) {
                    continue;
                }
                List<Losses.Sum> sums = losses.read(unread);
                sums.forEach(sum -> meter.count(sum.labels()));
                if (prints) {
                    print(step, sums.getLast().mean(), rate, meter.read());
                }
                for (int i = 0; i < unread - 1; i++) {
                    log.add(step - unread + 1 + i, sums.get(i).mean());
                }
                unread = 0;
                if (validates) {
                    validationLoss = evaluate(model, validation, tokens, losses);
                    System.out.printf(Locale.ROOT, "         validation loss %.4f%n", validationLoss);
                    log.add(step, sums.getLast().mean(), validationLoss);
                    meter.restart();
                } else {
                    log.add(step, sums.getLast().mean());
                }
                if (saves) {
                    log.force();
                    checkpoints.save(step, loader.state(), fixed(), vocabulary, model);
                    meter.restart();
                }
            }
            if (firstStep < steps) {
                Summary summary = diagnosis.summary();
                summary.write(out.resolve("diagnosis"));
                System.out.println(summary.text());
            }
        }
        return validationLoss;
    }

    /** Whether something is done after a step: every so many steps, and after the last. */
    private boolean isDue(String every, long step) {
        return step % flags.whole(every) == 0 || step == flags.whole("--steps");
    }

    /** Linear warm-up, then a cosine down to a tenth. */
    private double rate(long step) {
        double warmup = flags.number("--warmup");
        double rate = flags.number("--rate");
        if (step < warmup) {
            return rate * step / warmup;
        }
        double done = (step - warmup) / Math.max(1, flags.number("--steps") - warmup);
        return rate * (0.55 + 0.45 * StrictMath.cos(Math.PI * done));
    }

    private void print(long step, double loss, double rate, Meter.Reading reading) {
        System.out.printf(Locale.ROOT, "step %,d/%s  loss %.4f  rate %.5f  %,.0f tokens/s  input %.3f %% of the step,"
                + " %.3f %% of the CPU%n", step, flags.text("--steps"), loss, rate, reading.tokensPerSecond(),
                100 * reading.inputShare(), 100 * reading.loaderCpuShare());
    }

    /** The mean loss of all labels of the held-out sequences, each of which counts once. */
    static double evaluate(Model model, DataLoader validation, TokenBatch tokens, Losses losses) {
        for (Batch batch : validation.epoch(0)) {
            try (batch) {
                tokens.read(batch);
                model.forward(tokens);
                model.loss(tokens, losses, 0);
            }
        }
        return losses.read(1).getFirst().mean();
    }

    /** Metrics for Prometheus while the run lasts, if a port is given. */
    private PrometheusEndpoint publish(Metrics metrics) throws IOException {
        int port = flags.whole("--metrics-port");
        return port == 0 ? null : PrometheusEndpoint.open(metrics, port);
    }
}
