// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.sampling.Shard;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Training: against Python's PyTorch, resumed, on answers, in bf16, and in ranks of which one is killed. */
class TrainTest {

    private static final String[] SMALL = {"--size", "tiny", "--context", "32", "--batch", "2", "--threads", "1",
        "--validate-every", "1000", "--print-every", "1000"};

    @TempDir
    Path folder;

    private double train(Path store, String out, String... more) throws IOException {
        String[] options = new String[4 + SMALL.length + more.length];
        System.arraycopy(new String[] {"--store", store.toString(), "--out", folder.resolve(out).toString()}, 0,
                options, 0, 4);
        System.arraycopy(SMALL, 0, options, 4, SMALL.length);
        System.arraycopy(more, 0, options, 4 + SMALL.length, more.length);
        return new Train(Train.flags(options)).run();
    }

    /** What {@code reference()} of train.py computes. */
    @Test
    void lossesEqualThoseOfPython() {
        Model.useThreads(1);
        long[] tokens = new long[96];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = 2L * i;
        }
        Model model = new Model(Size.named("tiny"), 32, tokens, Model.cpu());
        try (PointerScope _ = new PointerScope();
                Optimizing optimizing = new Optimizing(model, Ranks.of(Map.of(), "", false))) {
            Tensor index = torch.arange(new Scalar(64)).view(2, 32).to(ScalarType.Long);
            Tensor ids = index.mul(new Scalar(37)).remainder(new Scalar(96)).mul(new Scalar(2));
            Tensor labels = ids.add(new Scalar(10)).remainder(new Scalar(192));
            labels.select(1, 10).fill_(new Scalar(-100));
            Tensor place = index.remainder(new Scalar(32));
            Tensor positions = place.remainder(new Scalar(11)).to(ScalarType.Int);
            Tensor documents = place.sub(place.remainder(new Scalar(11))).to(ScalarType.Int);
            double[] expected = {4.63661003112793, 4.114206314086914, 3.833042860031128};
            for (double each : expected) {
                optimizing.begin();
                Model.Loss loss = model.loss(ids, labels, positions, documents);
                loss.sum().backward();
                assertEquals(each, optimizing.end(loss.sum().item_double(), loss.labels().item_double(), 1e-2), 2e-5);
            }
        }
    }

    @Test
    void aRunThatIsStoppedGoesOnWithTheSameBits() throws IOException {
        Path store = Corpus.write(folder, 120);
        double straight = train(store, "straight", "--steps", "40", "--accumulate", "2", "--save-every", "1000");
        train(store, "stopped", "--steps", "40", "--accumulate", "2", "--stop-after", "17");
        double resumed = train(store, "stopped", "--steps", "40", "--accumulate", "2");
        List<String> losses = Files.readAllLines(folder.resolve("straight/losses-0.csv"));
        assertEquals(losses, Files.readAllLines(folder.resolve("stopped/losses-0.csv")));
        assertEquals(straight, resumed);
        double first = Double.parseDouble(losses.getFirst().split(",")[1]);
        double last = Double.parseDouble(losses.getLast().split(",")[1]);
        assertTrue(last < first - 0.5, first + " → " + last);
    }

    /** Questions are random, answers follow from them: a model that learned all tokens alike would not get as low. */
    @Test
    void onlyAnswersOfConversationsAreTrainedOn() throws IOException {
        Path store = Corpus.writeConversations(folder, 200);
        try (TokenStore tokens = TokenStore.open(store); Input input = Input.open(store, 32);
                DataLoader loader = input.training(2, 1, 1, Shard.whole(), null, Device.host())) {
            long labels = 0;
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    for (long label : batch.tensor("labels").segment().toArray(ValueLayout.JAVA_LONG)) {
                        labels += label >= 0 ? 1 : 0;
                    }
                }
            }
            assertTrue(labels > tokens.tokenCount() * 0.4 && labels < tokens.tokenCount() * 0.6, labels + " labels");
        }
        double loss = train(store, "chats", "--steps", "120", "--save-every", "1000", "--rate", "0.01", "--batch", "8");
        assertTrue(loss < 1.5, "loss of answers " + loss);
    }

    @Test
    void bf16HasAboutTheLossesOfF32() throws IOException {
        Path store = Corpus.write(folder, 120);
        train(store, "f32", "--steps", "20");
        train(store, "bf16", "--steps", "20", "--precision", "bf16");
        List<String> exact = Files.readAllLines(folder.resolve("f32/losses-0.csv"));
        List<String> rounded = Files.readAllLines(folder.resolve("bf16/losses-0.csv"));
        assertNotEquals(exact, rounded);
        for (int step = 0; step < exact.size(); step++) {
            assertEquals(Double.parseDouble(exact.get(step).split(",")[1]),
                    Double.parseDouble(rounded.get(step).split(",")[1]), 0.02);
        }
    }

    /** What a hundred thousand steps leave behind, {@link Soak} says; a pointer or a thread a step shows in fewer. */
    @Test
    void stepsLeaveNothingBehind() throws IOException {
        assertTrue(Soak.run(Soak.flags("--store", Corpus.write(folder, 120).toString(), "--steps", "1500")));
    }

    /** The presets for the CPU have neither CUDA nor NCCL. */
    @Test
    void whatNeedsAGpuIsRefusedByName() {
        assertMessage("--device: found cuda, which this PyTorch cannot use",
                () -> new Train(Train.flags("--device", "cuda")));
        assertMessage("--precision: found f16, expected auto, f32, bf16",
                () -> new Train(Train.flags("--precision", "f16")));
        Map<String, String> two = Map.of("RANK", "1", "WORLD_SIZE", "2");
        assertMessage("--device cuda with 2 ranks: found no ProcessGroupNCCL",
                () -> Ranks.of(two, folder.resolve("meeting").toString(), true));
        assertMessage("--meeting: needed by 2 ranks", () -> Ranks.of(two, "", false));
    }

    private static void assertMessage(String begin, Executable call) {
        String message = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(message.startsWith(begin), message);
    }

    @Test
    void threeRanksOfWhichOneIsKilledAndTwoThatGoOn() throws Exception {
        // Long enough that no rank is at its end when one is killed.
        Path store = Corpus.write(folder, 600);
        Launch.main(new String[] {store.toString(), folder.resolve("ranks").toString(), "3", "2", "--", "--size",
            "tiny", "--context", "32", "--batch", "2", "--validate-every", "1000"});
    }
}
