// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointsTest {

    private static final Vocabulary VOCABULARY = new Vocabulary(new int[]{3, 5, 50_256});
    private static final Map<String, String> OPTIONS = Map.of("--context", "32", "--layers", "1", "--heads", "1",
            "--width", "32");

    @TempDir
    private Path folder;

    private static LoaderState state(long position) {
        return new LoaderState(1, position, 42, "sampler", "dataset");
    }

    private static Model model(Ops ops) {
        return new Model(new Shape(VOCABULARY.paddedSize(), 32, 1, 1, 32), ops, 1);
    }

    private void save(long step) throws IOException {
        try (Ops ops = new CpuOps(1)) {
            Model model = model(ops);
            model.initialize(step);
            new Checkpoints(folder).save(step, state(step), OPTIONS, VOCABULARY, model);
        }
    }

    private Checkpoints.Saved newest() throws IOException {
        return new Checkpoints(folder).newest().orElseThrow();
    }

    @Test
    void whatIsReadIsWhatWasSaved() throws IOException {
        try (Ops ops = new CpuOps(1)) {
            Model model = model(ops);
            model.initialize(1);
            for (Parameter each : model.parameters()) {
                ops.fill(each.mean(), each.weight().size());
                ops.fill(each.square(), 0.5f);
            }
            new Checkpoints(folder).save(7, state(96), OPTIONS, VOCABULARY, model);

            Checkpoints.Saved saved = newest();
            assertEquals(7, saved.checkpoint().step());
            assertEquals(state(96), saved.checkpoint().state());
            assertEquals(OPTIONS, saved.options());
            assertArrayEquals(VOCABULARY.tokens(), saved.vocabulary().tokens());
            assertEquals(model.shape(), saved.shape());
            Model read = new Model(saved.shape(), ops, 1);
            saved.readWeights(read);
            saved.readAverages(read);
            for (int i = 0; i < model.parameters().size(); i++) {
                assertSame(model, read, i, Parameter::weight);
                assertSame(model, read, i, Parameter::mean);
                assertSame(model, read, i, Parameter::square);
            }
        }
    }

    private static void assertSame(Model expected, Model found, int parameter, Function<Parameter, Floats> which) {
        assertArrayEquals(values(which.apply(expected.parameters().get(parameter))),
                values(which.apply(found.parameters().get(parameter))));
    }

    private static float[] values(Floats floats) {
        float[] values = new float[floats.size()];
        floats.copyTo(values);
        return values;
    }

    @Test
    void aNewerCheckpointTakesThePlaceOfTheOneBefore() throws IOException {
        save(5);
        save(10);
        assertEquals(10, newest().checkpoint().step());
        try (var all = Files.list(folder)) {
            assertEquals(1, all.count());
        }
    }

    /** A run that is killed while it saves leaves any of the files, but not the state, which comes last. */
    @Test
    void aCheckpointWithoutAStateIsIgnoredAndOverwritten() throws IOException {
        save(5);
        Files.createDirectory(folder.resolve("step-00000010"));
        Files.writeString(folder.resolve("step-00000010/model.safetensors"), "half");
        assertEquals(5, newest().checkpoint().step());
        save(10);
        assertEquals(10, newest().checkpoint().step());
    }

    @Test
    void aChangedFileIsNamed() throws IOException {
        save(5);
        Path weights = folder.resolve("step-00000005/model.safetensors");
        byte[] bytes = Files.readAllBytes(weights);
        bytes[bytes.length - 1] ^= 1;
        Files.write(weights, bytes);
        IOException e = assertThrows(IOException.class, this::newest);
        assertTrue(e.getMessage().contains("model.safetensors has different content"), e.getMessage());
        assertTrue(Files.exists(folder.resolve("step-00000005").resolve(Checkpoint.FILE_NAME)));
    }
}
