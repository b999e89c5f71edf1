// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.loader.DataLoader;
import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.AutoGradMode;
import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.InputArchive;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.OutputArchive;
import org.bytedeco.pytorch.StringTensorDict;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a run goes on from, in {@linkplain Checkpoint#newFolder one folder per step}: a model's tensors, the
 * optimizer's state, the states of generators of random numbers, and the loader's. A run that is killed at any moment
 * finds the previous checkpoint or the new one, complete.
 *
 * {@snippet :
 * TorchCheckpoint run = TorchCheckpoint.of(TorchCheckpoint.tensorsOf(model), optimizer);
 * Optional<Checkpoint> saved = run.load(folder);                          // empty on the first start
 * saved.ifPresent(checkpoint -> settings.resume(checkpoint.state()));     // of the loader, before it is opened
 * // … between steps:
 * run.save(folder, step, loader);
 * }
 *
 * <p>On the CPU, a run that goes on has the losses of one that was not stopped, to the bit, with the same number of
 * torch's threads.
 */
public final class TorchCheckpoint {

    private static final String ENDING = ".pt";
    private static final String FILE = "torch" + ENDING;
    private static final String MODEL = "model";
    private static final String OPTIMIZER = "optimizer";
    private static final String GENERATORS = "generators";

    private final Map<String, Tensor> tensors;
    private final @Nullable Optimizer optimizer;
    private final List<Generator> generators;

    private TorchCheckpoint(Map<String, Tensor> tensors, @Nullable Optimizer optimizer, List<Generator> generators) {
        this.tensors = tensors;
        this.optimizer = optimizer;
        this.generators = generators;
    }

    /**
     * What is saved: tensors, an optimizer, and torch's generator of random numbers for the CPU.
     *
     * @param tensors a model's parameters and buffers by name; {@link #tensorsOf} has those of a module
     * @param optimizer the optimizer, or null
     * @return what saves and loads them
     */
    public static TorchCheckpoint of(Map<String, Tensor> tensors, @Nullable Optimizer optimizer) {
        return new TorchCheckpoint(new LinkedHashMap<>(tensors), optimizer, List.of(torch.getDefaultCPUGenerator()));
    }

    /**
     * Saves other generators as well, such as that of a GPU.
     *
     * @param others the generators, which stay the caller's
     * @return what saves and loads them
     */
    public TorchCheckpoint with(Generator... others) {
        return new TorchCheckpoint(tensors, optimizer,
                Stream.concat(generators.stream(), Arrays.stream(others)).toList());
    }

    /**
     * The parameters and buffers of a module and those below it.
     *
     * @param module the module
     * @return its tensors, by the names that torch gives them
     */
    public static Map<String, Tensor> tensorsOf(Module module) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (StringTensorDict named : List.of(module.named_parameters(), module.named_buffers())) {
            for (long i = 0; i < named.size(); i++) {
                try (BytePointer name = named.get(i).key()) {
                    tensors.put(name.getString(), new Tensor(named.get(i).access()));
                }
            }
        }
        return tensors;
    }

    /**
     * Saves all. Call it between steps, before the next batch is taken. An older checkpoint in the folder is deleted
     * when the new one is complete.
     *
     * @param folder the folder of the run's checkpoints; created if it is missing
     * @param step the number of steps done
     * @param loader the loader that batches come from
     * @return what was saved
     * @throws IOException if a file cannot be written, or the folder has a checkpoint of a later step; the older
     *     checkpoint is then unchanged
     */
    public Checkpoint save(Path folder, long step, DataLoader loader) throws IOException {
        return save(folder, step, loader.state());
    }

    /**
     * Saves all, with a state of a loader that was taken before.
     *
     * @param folder the folder of the run's checkpoints; created if it is missing
     * @param step the number of steps done
     * @param state the loader's state behind that step
     * @return what was saved
     * @throws IOException if a file cannot be written, or the folder has a checkpoint of a later step; the older
     *     checkpoint is then unchanged
     */
    public Checkpoint save(Path folder, long step, LoaderState state) throws IOException {
        Path target = Checkpoint.newFolder(folder, step);
        write(target.resolve(FILE));
        Checkpoint saved = Checkpoint.save(target, step, state, FILE);
        Checkpoint.keepLatest(folder, 1);
        return saved;
    }

    private void write(Path file) {
        try (PointerScope _ = new PointerScope(); AutoGradMode _ = new AutoGradMode(false);
                OutputArchive all = new OutputArchive()) {
            OutputArchive model = new OutputArchive();
            tensors.forEach((name, tensor) -> model.write(key(name), tensor.detach()));
            all.write(MODEL, model);
            if (optimizer != null) {
                OutputArchive state = new OutputArchive();
                optimizer.save(state);
                all.write(OPTIMIZER, state);
            }
            OutputArchive random = new OutputArchive();
            for (int i = 0; i < generators.size(); i++) {
                random.write("g" + i, generators.get(i).get_state());
            }
            all.write(GENERATORS, random);
            all.save_to(file.toString());
        }
    }

    /**
     * Loads what was saved into the same tensors, optimizer and generators.
     *
     * @param folder the folder of the run's checkpoints
     * @return step and state; empty if the folder has no checkpoint
     * @throws IOException if the checkpoint is damaged, or is of another model; the message names the file
     */
    public Optional<Checkpoint> load(Path folder) throws IOException {
        Optional<Path> latest = Checkpoint.latest(folder);
        if (latest.isEmpty()) {
            return Optional.empty();
        }
        Checkpoint checkpoint = Checkpoint.load(latest.get());
        Path file = checkpoint.files().keySet().stream().filter(name -> name.endsWith(ENDING)).findFirst()
                .map(latest.get()::resolve).orElseThrow(() -> new IOException(latest.get()
                        + ": the checkpoint has the files " + checkpoint.files().keySet() + ", expected " + FILE));
        try {
            read(file);
        } catch (RuntimeException e) {
            throw new IOException(file + ": is not a checkpoint of this model: " + firstLine(e), e);
        }
        return Optional.of(checkpoint);
    }

    private void read(Path file) {
        try (PointerScope _ = new PointerScope(); AutoGradMode _ = new AutoGradMode(false);
                InputArchive all = new InputArchive()) {
            all.load_from(file.toString());
            InputArchive model = new InputArchive();
            all.read(MODEL, model);
            if (model.keys().size() != tensors.size()) {
                throw new IllegalArgumentException("found " + model.keys().size() + " tensors, expected "
                        + tensors.size());
            }
            tensors.forEach((name, tensor) -> {
                Tensor found = new Tensor();
                model.read(key(name), found);
                if (!Arrays.equals(found.shape(), tensor.shape())) {
                    throw new IllegalArgumentException(name + ": found shape " + Arrays.toString(found.shape())
                            + ", expected " + Arrays.toString(tensor.shape()));
                }
                tensor.copy_(found);
            });
            if (optimizer != null) {
                InputArchive state = new InputArchive();
                all.read(OPTIMIZER, state);
                optimizer.load(state);
            }
            InputArchive random = new InputArchive();
            all.read(GENERATORS, random);
            for (int i = 0; i < generators.size(); i++) {
                Tensor state = new Tensor();
                random.read("g" + i, state);
                generators.get(i).set_state(state);
            }
        }
    }

    /** Torch takes no dots in a name. */
    private static String key(String name) {
        return name.replace('.', '/');
    }

    private static String firstLine(RuntimeException e) {
        return e.getMessage() == null ? e.toString() : e.getMessage().lines().findFirst().orElse("");
    }
}
