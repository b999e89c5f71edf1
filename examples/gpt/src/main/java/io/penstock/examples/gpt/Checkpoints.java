// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.format.safetensors.SafetensorsWriter;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A run's checkpoints, each a folder {@code step-00000100} with the weights, the optimizer's averages, the vocabulary,
 * the options and the loader's state.
 *
 * <p>{@link Checkpoint} names the folders and finds the newest complete one. The previous checkpoint is deleted only
 * when the new one is complete, so a kill at any moment leaves one of them.
 */
final class Checkpoints {

    private static final String WEIGHTS = "model.safetensors";
    private static final String AVERAGES = "optimizer.safetensors";
    private static final String OPTIONS = "options.txt";
    private static final String VOCABULARY = "vocabulary";

    private final Path folder;
    private final boolean keepsOld;

    /** A checkpoint that was read. */
    record Saved(Path folder, Checkpoint checkpoint, Map<String, String> options, Vocabulary vocabulary) {

        Shape shape() {
            return new Shape(vocabulary.paddedSize(), option("--context"), option("--layers"), option("--heads"),
                    option("--width"));
        }

        private int option(String name) {
            return Integer.parseInt(options.get(name));
        }

        void readWeights(Model model) throws IOException {
            read(folder.resolve(WEIGHTS), model, "", Parameter::weight);
        }

        void readAverages(Model model) throws IOException {
            read(folder.resolve(AVERAGES), model, "mean.", Parameter::mean);
            read(folder.resolve(AVERAGES), model, "square.", Parameter::square);
        }
    }

    Checkpoints(Path folder) {
        this(folder, false);
    }

    /** Reads and writes checkpoints in a folder, and keeps old ones if asked to. */
    Checkpoints(Path folder, boolean keepsOld) {
        this.folder = folder;
        this.keepsOld = keepsOld;
    }

    /** Saves what a run needs to go on with the step after this one. */
    void save(long step, LoaderState state, Map<String, String> options, Vocabulary vocabulary, Model model)
            throws IOException {
        Path target = Checkpoint.newFolder(folder, step);
        Map<String, Tensor> weights = new TreeMap<>();
        weights.put(VOCABULARY, Tensor.of(MemorySegment.ofArray(vocabulary.tokens()), DType.I32, vocabulary.size()));
        Map<String, Tensor> averages = new TreeMap<>();
        for (Parameter each : model.parameters()) {
            weights.put(each.name(), tensor(each.weight(), each.shape()));
            averages.put("mean." + each.name(), tensor(each.mean(), each.shape()));
            averages.put("square." + each.name(), tensor(each.square(), each.shape()));
        }
        SafetensorsWriter.write(target.resolve(WEIGHTS), weights, Map.of(), IfExists.FAIL);
        SafetensorsWriter.write(target.resolve(AVERAGES), averages, Map.of(), IfExists.FAIL);
        Files.write(target.resolve(OPTIONS), options.entrySet().stream().map(Object::toString).toList(),
                StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
        Checkpoint.save(target, step, state, WEIGHTS, AVERAGES, OPTIONS);
        if (!keepsOld) {
            Checkpoint.keepLatest(folder, 1);
        }
    }

    /**
     * Reads the newest complete checkpoint.
     *
     * @throws IOException if its files are not those that were saved
     */
    Optional<Saved> newest() throws IOException {
        Optional<Path> latest = Checkpoint.latest(folder);
        return latest.isPresent() ? Optional.of(read(latest.get())) : Optional.empty();
    }

    private static Saved read(Path folder) throws IOException {
        Checkpoint checkpoint = Checkpoint.load(folder);
        Map<String, String> options = new TreeMap<>();
        for (String line : Files.readAllLines(folder.resolve(OPTIONS))) {
            options.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
        }
        try (TensorStore store = TensorStore.open(folder.resolve(WEIGHTS))) {
            int[] tokens = find(store, VOCABULARY).segment().toArray(ValueLayout.JAVA_INT);
            return new Saved(folder, checkpoint, options, new Vocabulary(tokens));
        }
    }

    private static void read(Path file, Model model, String prefix, Function<Parameter, Floats> into)
            throws IOException {
        try (TensorStore store = TensorStore.open(file)) {
            for (Parameter each : model.parameters()) {
                into.apply(each).copyFrom(
                        find(store, prefix + each.name()).segment().toArray(ValueLayout.JAVA_FLOAT));
            }
        }
    }

    private static Tensor find(TensorStore store, String name) {
        List<TensorSpec> tensors = store.tensors();
        for (int i = 0; i < tensors.size(); i++) {
            if (tensors.get(i).name().equals(name)) {
                return store.tensor(i);
            }
        }
        throw new IllegalArgumentException("tensor " + name + ": found none, expected one in " + store);
    }

    private static Tensor tensor(Floats floats, long[] shape) {
        float[] values = new float[floats.size()];
        floats.copyTo(values);
        return Tensor.of(MemorySegment.ofArray(values), DType.F32, shape);
    }
}
