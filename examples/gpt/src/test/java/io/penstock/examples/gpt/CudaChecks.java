// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.TokenStore;
import io.penstock.transform.TokenStage;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/** Checks over the simulated CUDA runtime, for {@link CudaTest}. */
final class CudaChecks {

    private static final Shape SHAPE = SmallModel.SHAPE;
    private static final int ROWS = SmallModel.SEQUENCES * SHAPE.context();

    private final Corpus corpus;
    private final Path folder;

    private CudaChecks(Corpus corpus, Path folder) {
        this.corpus = corpus;
        this.folder = folder;
    }

    /** Takes the name of a check, the corpus as two stores, and a folder. */
    public static void main(String[] args) throws Exception {
        CudaChecks checks = new CudaChecks(new Corpus(Path.of(args[1]), Path.of(args[2])), Path.of(args[3]));
        CudaChecks.class.getDeclaredMethod(args[0]).invoke(checks);
    }

    // ---- results

    /** An operation on memory of random numbers. */
    private interface Operation {
        void run(Ops ops, TokenBatch batch, Floats[] x);
    }

    void everyOperationGivesWhatTheCpuGives() {
        int width = 320;
        int vocabulary = 544;
        compare("fill", (ops, _, x) -> ops.fill(x[0].slice(3, 900), 1.5f), 1000);
        compare("add", (ops, _, x) -> ops.add(x[0], x[1], 1000), 1000, 1000);
        compare("embed", (ops, batch, x) -> ops.embed(batch, x[0], x[1], x[2], width),
                SHAPE.vocabulary() * width, SHAPE.context() * width, ROWS * width);
        compare("embedBackward", (ops, batch, x) -> ops.embedBackward(batch, x[2], x[0], x[1], width),
                SHAPE.vocabulary() * width, SHAPE.context() * width, ROWS * width);
        compare("linear", (ops, _, x) -> ops.linear(x[0], x[1], x[2], x[3], ROWS, 96, width),
                ROWS * 96, 96 * width, width, ROWS * width);
        compare("linearBackward", (ops, _, x) -> ops.linearBackward(x[0], x[1], x[2], x[3], x[4], x[5], ROWS, 96,
                width), ROWS * 96, 96 * width, ROWS * width, ROWS * 96, 96 * width, width);
        compare("layerNorm", (ops, _, x) -> ops.layerNorm(x[0], x[1], x[2], x[3], ROWS, width),
                ROWS * width, width, width, ROWS * width);
        compare("layerNormBackward", (ops, _, x) -> ops.layerNormBackward(x[0], x[1], x[2], x[3], x[4], x[5], x[6],
                ROWS, width), ROWS * width, width, ROWS * width, ROWS * width, ROWS * width, width, width);
        compare("gelu", (ops, _, x) -> ops.gelu(x[0], x[1], 1024), 1024, 1024);
        compare("geluBackward", (ops, _, x) -> ops.geluBackward(x[0], x[1], x[1], 1024), 1024, 1024);
        int attention = SmallModel.SEQUENCES * SHAPE.heads() * SHAPE.context() * SHAPE.context();
        compare("attention", (ops, batch, x) -> ops.attention(batch, x[0], x[1], x[2], SHAPE),
                3 * ROWS * SHAPE.width(), attention, ROWS * SHAPE.width());
        compare("attentionBackward", (ops, batch, x) -> {
            ops.attention(batch, x[0], x[1], x[2], SHAPE);
            ops.attentionBackward(batch, x[0], x[1], x[2], x[3], SHAPE);
        }, 3 * ROWS * SHAPE.width(), attention, ROWS * SHAPE.width(), 3 * ROWS * SHAPE.width());
        compare("logits", (ops, _, x) -> ops.logits(x[0], x[1], x[2], ROWS, SHAPE),
                ROWS * SHAPE.width(), SHAPE.vocabulary() * SHAPE.width(), ROWS * SHAPE.vocabulary());
        compare("logitsBackward", (ops, _, x) -> ops.logitsBackward(x[0], x[1], x[2], x[3], x[4], ROWS, SHAPE),
                ROWS * SHAPE.width(), SHAPE.vocabulary() * SHAPE.width(), ROWS * SHAPE.vocabulary(),
                ROWS * SHAPE.width(), SHAPE.vocabulary() * SHAPE.width());
        compare("crossEntropy", (ops, batch, x) -> {
            Losses losses = ops.losses();
            ops.crossEntropy(batch, x[0], vocabulary, losses, 0);
            ops.crossEntropy(batch, x[1], vocabulary, losses, 0);
            Losses.Sum sum = losses.read(1).getFirst();
            assertEquals(0, losses.read(1).getFirst().labels());
            x[2].copyFrom(new float[]{(float) sum.loss(), sum.labels()});
        }, ROWS * vocabulary, ROWS * vocabulary, 2);
        compare("adamW", (ops, _, x) -> {
            List<Parameter> parameters = new ArrayList<>();
            for (int i = 0; i < 8; i += 4) {
                ops.fill(x[i + 3], 0.3f);
                parameters.add(new Parameter("p", new long[]{x[i].size()}, x[i], x[i + 1], x[i + 2], x[i + 3]));
            }
            AdamW optimizer = new AdamW(ops, parameters);
            optimizer.step(7, 0.01);
            optimizer.step(8, 0.01);
        }, 40_000, 40_000, 40_000, 40_000, 33, 33, 33, 33);
    }

    /** Does the same on both; everything that it worked on is then the same but for rounding. */
    private static void compare(String name, Operation operation, int... sizes) {
        float[][] expected = results(new CpuOps(1), operation, sizes);
        float[][] found = results(CudaOps.open(Device.cuda(0)), operation, sizes);
        for (int i = 0; i < sizes.length; i++) {
            for (int j = 0; j < sizes[i]; j++) {
                assertEquals(expected[i][j], found[i][j], 2e-5 * (1 + Math.abs(expected[i][j])),
                        name + ": x[" + i + "][" + j + "]");
            }
        }
    }

    private static float[][] results(Ops opened, Operation operation, int... sizes) {
        Random random = new Random(11);
        try (Ops ops = opened) {
            Floats[] x = new Floats[sizes.length];
            for (int i = 0; i < x.length; i++) {
                float[] values = new float[sizes[i]];
                for (int j = 0; j < values.length; j++) {
                    values[j] = (float) random.nextGaussian();
                }
                x[i] = ops.allocate(sizes[i]);
                x[i].copyFrom(values);
            }
            operation.run(ops, on(ops, SmallModel.batch()), x);
            float[][] results = new float[sizes.length][];
            for (int i = 0; i < x.length; i++) {
                results[i] = new float[sizes[i]];
                x[i].copyTo(results[i]);
            }
            return results;
        }
    }

    /** A batch where kernels compute. */
    private static TokenBatch on(Ops ops, HostTokens batch) {
        if (!(ops instanceof CudaOps cuda)) {
            return batch;
        }
        CudaTokens tokens = cuda.tokens(SmallModel.SEQUENCES, SHAPE.context(), SmallModel.VOCABULARY);
        CudaMemory memory = cuda.allocate(1).memory();
        memory.copyToDevice(tokens.ids, 0, MemorySegment.ofArray(batch.ids));
        memory.copyToDevice(tokens.positions, 0, MemorySegment.ofArray(batch.positions));
        memory.copyToDevice(tokens.labels, 0, MemorySegment.ofArray(batch.labels));
        tokens.rows = batch.rows;
        tokens.countLabels();
        return tokens;
    }

    void stepsGiveTheGradientsAndWeightsOfTheCpu() {
        try (Ops cpu = new CpuOps(1); Ops cuda = CudaOps.open(Device.cuda(0))) {
            Model expected = SmallModel.open(cpu);
            Model found = SmallModel.open(cuda);
            AdamW ofExpected = new AdamW(cpu, expected.parameters());
            AdamW ofFound = new AdamW(cuda, found.parameters());
            for (int step = 1; step <= 3; step++) {
                assertEquals(SmallModel.gradients(expected, cpu, SmallModel.batch()),
                        SmallModel.gradients(found, cuda, on(cuda, SmallModel.batch())), 1e-4, "step " + step);
                if (step == 1) {
                    compare(expected, found, Parameter::gradient, 1e-5);
                }
                ofExpected.step(step, 0.01);
                ofFound.step(step, 0.01);
                if (step == 1) {
                    compare(expected, found, Parameter::weight, 1e-4);
                }
            }
        }
    }

    private static void compare(Model expected, Model found, Function<Parameter, Floats> which, double tolerance) {
        for (int i = 0; i < expected.parameters().size(); i++) {
            Parameter parameter = expected.parameters().get(i);
            float[] one = values(which.apply(parameter));
            float[] other = values(which.apply(found.parameters().get(i)));
            for (int j = 0; j < one.length; j++) {
                assertEquals(one[j], other[j], tolerance, parameter.name() + "[" + j + "]");
            }
        }
    }

    private static float[] values(Floats floats) {
        float[] values = new float[floats.size()];
        floats.copyTo(values);
        return values;
    }

    void aRunHasTheLossesOfTheCpuAndTheSameBitsAgain() throws IOException {
        for (String form : List.of("packed", "windows")) {
            List<String> expected = losses(form, "cpu", "cpu");
            List<String> found = losses(form, "cuda", "cuda");
            for (int step = 0; step < expected.size(); step++) {
                String[] one = expected.get(step).split(",");
                String[] other = found.get(step).split(",");
                assertEquals(one.length, other.length);
                assertEquals(one[0], other[0]);
                for (int i = 1; i < one.length; i++) {
                    assertEquals(Double.parseDouble(one[i]), Double.parseDouble(other[i]), 1e-4, form + " " + one[0]);
                }
            }
            if (form.equals("windows")) {
                assertEquals(found, losses(form, "cuda", "again"));
            }
        }
    }

    private List<String> losses(String form, String device, String name) throws IOException {
        Path out = folder.resolve(form + "-" + name);
        new Train(Train.flags("--first", corpus.letters().toString(), "--second", corpus.books().toString(), "--out",
                out.toString(), "--device", device, "--input", form, "--steps", "9", "--batch", "4", "--context", "32",
                "--layers", "1", "--heads", "1", "--width", "32", "--warmup", "2", "--print-every", "4",
                "--validate-every", "100", "--save-every", "100")).run();
        List<String> log = Files.readAllLines(out.resolve("losses.csv"));
        assertEquals(9, log.size());
        return log;
    }

    // ---- copies and order

    void batchesReachTheDeviceAsTheyReachTheHost() throws IOException {
        for (Input.Form form : Input.Form.values()) {
            try (Ops cpu = new CpuOps(1);
                    CudaOps cuda = CudaOps.open(Device.cuda(0));
                    Input input = Input.open(corpus.letters(), corpus.books(), 64, form);
                    DataLoader onHost = input.training(4, new double[]{0.6, 0.4}, 3, null, cpu.device());
                    DataLoader onDevice = input.training(4, new double[]{0.6, 0.4}, 3, null, cuda.device())) {
                Vocabulary vocabulary = input.vocabulary();
                HostTokens expected = HostTokens.of(cpu.tokens(4, 64, vocabulary));
                CudaTokens found = cuda.tokens(4, 64, vocabulary);
                CudaMemory memory = cuda.allocate(1).memory();
                for (int step = 0; step < 20; step++) {
                    try (Batch host = expected.next(onHost); Batch device = found.next(onDevice)) {
                        Map<String, Tensor> there = host.toHost();
                        device.toHost().forEach((name, tensor) -> assertEquals(-1,
                                tensor.segment().mismatch(there.get(name).segment()), form + ": " + name));
                        expected.read(host);
                        found.read(device);
                    }
                    assertEquals(expected.rows(), found.rows());
                    assertArrayEquals(expected.ids, ints(memory, found.ids));
                    assertArrayEquals(expected.positions, ints(memory, found.positions));
                    assertArrayEquals(expected.labels, ints(memory, found.labels));
                    double[] labelled = new double[1];
                    memory.copyToHost(found.labelled, 0, MemorySegment.ofArray(labelled));
                    assertEquals(expected.labelled(), labelled[0]);
                }
            }
        }
    }

    private static int[] ints(CudaMemory memory, DeviceBuffer buffer) {
        int[] values = new int[(int) buffer.byteSize() / Integer.BYTES];
        memory.copyToHost(buffer, 0, MemorySegment.ofArray(values));
        return values;
    }

    /** What the loader enqueues for a batch of 4 windows of 32 + 1 tokens of two bytes. */
    private static final List<String> LOADER = List.of("wait for trainer", "copy 264 bytes to device", "record",
            "launch penstock_causal_lm", "launch penstock_documents", "record");
    /** What the trainer enqueues for a step; cuBLAS's m, n and k of a product, and how many there are. */
    private static final List<String> TRAINER = """
            wait for loader
            launch gpt_read_batch
            launch gpt_count_labels
            launch gpt_embed
            launch gpt_layer_norm
            launch gpt_copy_row
            product 96 x 128 x 32, 1 times
            product 32 x 32 x 32, 4 times
            launch gpt_softmax
            product 32 x 32 x 32, 4 times
            launch gpt_copy_row
            product 32 x 128 x 32, 1 times
            launch gpt_add
            launch gpt_layer_norm
            launch gpt_copy_row
            product 128 x 128 x 32, 1 times
            launch gpt_gelu
            launch gpt_copy_row
            product 32 x 128 x 128, 1 times
            launch gpt_add
            launch gpt_layer_norm
            product 896 x 128 x 32, 1 times
            launch gpt_cross_entropy
            launch gpt_add_losses
            16 x launch gpt_fill
            product 32 x 128 x 896, 1 times
            product 32 x 896 x 128, 1 times
            launch gpt_fill
            launch gpt_layer_norm_backward
            2 x launch gpt_add_rows
            product 128 x 128 x 32, 1 times
            product 32 x 128 x 128, 1 times
            launch gpt_add_rows
            launch gpt_gelu_backward
            product 32 x 128 x 128, 1 times
            product 128 x 32 x 128, 1 times
            launch gpt_add_rows
            launch gpt_layer_norm_backward
            2 x launch gpt_add_rows
            product 32 x 128 x 32, 1 times
            product 32 x 32 x 128, 1 times
            launch gpt_add_rows
            2 x product 32 x 32 x 32, 4 times
            launch gpt_softmax_backward
            2 x product 32 x 32 x 32, 4 times
            product 32 x 128 x 96, 1 times
            product 96 x 32 x 128, 1 times
            launch gpt_add_rows
            launch gpt_layer_norm_backward
            2 x launch gpt_add_rows
            2 x launch gpt_add_rows_at
            16 x launch gpt_sum_of_squares
            launch gpt_clip
            16 x launch gpt_adam_w
            record""".lines().toList();

    void aStepIsEnqueuedInThisOrder() throws IOException {
        int steps = 6;
        try (CudaOps ops = CudaOps.open(Device.cuda(0));
                Input input = Input.open(corpus.letters(), corpus.books(), 32, Input.Form.WINDOWS);
                DataLoader loader = input.training(4, new double[]{0.6, 0.4}, 3, null, ops.device())) {
            Vocabulary vocabulary = input.vocabulary();
            Model model = new Model(new Shape(vocabulary.paddedSize(), 32, 1, 1, 32), ops, 4);
            AdamW optimizer = new AdamW(ops, model.parameters());
            TokenBatch tokens = ops.tokens(4, 32, vocabulary);
            Losses losses = ops.losses();
            for (int step = 1; step <= steps; step++) {
                try (Batch batch = tokens.next(loader)) {
                    tokens.read(batch);
                    model.forward(tokens);
                    model.loss(tokens, losses, step - 1);
                    model.backward(tokens);
                    optimizer.step(step, 0.01);
                }
            }
            losses.read(steps);
        }
        List<String> log = Files.readAllLines(Path.of(System.getenv("SIM_CUDA_LOG")));
        String trainer = streamOf(log, "launch gpt_embed");
        String loader = streamOf(log, "launch penstock_causal_lm");
        List<String> ofTrainer = on(trainer, loader, "loader", log);
        for (int step = 0; step < steps; step++) {
            int first = ofTrainer.indexOf(TRAINER.getFirst());
            assertEquals(TRAINER, ofTrainer.subList(first, first + TRAINER.size()));
            ofTrainer = ofTrainer.subList(first + TRAINER.size(), ofTrainer.size());
        }
        assertEquals(List.of("copy " + steps * 16 + " bytes to host", "launch gpt_fill"), ofTrainer);
        List<String> ofLoader = on(loader, trainer, "trainer", log);
        int last = ofLoader.lastIndexOf(LOADER.getFirst());
        assertEquals(LOADER, ofLoader.subList(last, last + LOADER.size()));
    }

    private static String streamOf(List<String> log, String work) {
        return log.stream().filter(line -> line.startsWith(work)).findFirst().orElseThrow().split(", stream ")[1];
    }

    /** What was enqueued on a stream, with a name for another one; repetitions as one line. */
    private static List<String> on(String stream, String other, String otherName, List<String> log) {
        List<String> work = log.stream().filter(line -> line.endsWith(", stream " + stream))
                .map(line -> line.substring(0, line.lastIndexOf(", stream ")))
                .map(line -> line.equals("wait for stream " + other) ? "wait for " + otherName : line).toList();
        List<String> lines = new ArrayList<>();
        for (int first = 0, end; first < work.size(); first = end) {
            for (end = first + 1; end < work.size() && work.get(end).equals(work.get(first));) {
                end++;
            }
            lines.add(end - first == 1 ? work.get(first) : end - first + " x " + work.get(first));
        }
        return lines;
    }

    /**
     * A closed batch's slot takes another batch, in no order with a kernel that is enqueued later. That copy is held
     * back, so that nobody can have seen its end.
     */
    void readsAClosedBatch() throws Throwable {
        try (Device device = Device.cuda(0);
                TokenStore store = TokenStore.open(corpus.letters());
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 32)).collator(CausalLm.narrow())
                        .onDevice(TokenStage.of(DType.I32)).batchSize(4).deviceSlots(2).device(device).open();
                DeviceStream stream = device.openStream("trainer");
                DeviceBuffer copy = device.allocate(4 * 32 * Integer.BYTES)) {
            device.makeCurrent();
            try (CudaKernels kernels = new CudaKernels(device, stream.handle())) {
                CudaKernels.Kernel add = kernels.find("gpt_add");
                long address;
                holdCopies(device, 1);
                try (Batch batch = loader.next(stream)) {
                    address = batch.address("input_ids");
                }
                add.each(128, copy.address(), address, 128);
                holdCopies(device, 0);
                loader.next(stream).close();
                loader.next(stream).close();
                stream.synchronize();
            }
        }
    }

    @SuppressWarnings("restricted")
    private static void holdCopies(Device device, int hold) throws Throwable {
        Linker.nativeLinker().downcallHandle(device.functions().findOrThrow("sim_set_held"),
                FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT)).invokeExact(hold);
    }
}
