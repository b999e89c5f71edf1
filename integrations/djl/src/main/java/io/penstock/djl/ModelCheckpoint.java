// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.MalformedModelException;
import ai.djl.Model;
import io.penstock.loader.DataLoader;
import io.penstock.state.Checkpoint;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A model's parameters together with the loader's state, in {@linkplain Checkpoint#newFolder one folder per step}. A
 * run that is killed at any moment finds the previous checkpoint or the new one, complete.
 *
 * {@snippet :
 * Optional<Checkpoint> saved = ModelCheckpoint.load(folder, model);       // empty on the first start
 * saved.ifPresent(checkpoint -> settings.resume(checkpoint.state()));     // of the loader, before it is opened
 * // … after trainer.step():
 * ModelCheckpoint.save(folder, step, model, loader);
 * }
 *
 * <p>The state of DJL's optimizers is not saved, because DJL does not give access to it. With plain SGD a resumed run
 * continues exactly; Adam and momentum start their averages again.
 */
public final class ModelCheckpoint {

    private static final String ENDING = ".params";
    private static final String FILE = "model" + ENDING;
    private static final int BUFFER_BYTES = 1 << 16;

    private ModelCheckpoint() {
    }

    /**
     * Saves both. Call it between steps: after {@code trainer.step()}, before the next batch is taken. An older
     * checkpoint in the folder is deleted when the new one is complete.
     *
     * @param folder the folder of the run's checkpoints; created if it is missing
     * @param step the number of steps done
     * @param model the model, whose parameters are initialized
     * @param loader the loader that its batches come from
     * @return what was saved
     * @throws IOException if a file cannot be written, or the folder has a checkpoint of a later step; the older
     *     checkpoint is then unchanged
     */
    public static Checkpoint save(Path folder, long step, Model model, DataLoader loader) throws IOException {
        Path target = Checkpoint.newFolder(folder, step);
        try (DataOutputStream out = new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(target.resolve(FILE)), BUFFER_BYTES))) {
            model.getBlock().saveParameters(out);
        }
        Checkpoint saved = Checkpoint.save(target, step, loader.state(), FILE);
        Checkpoint.keepLatest(folder, 1);
        return saved;
    }

    /**
     * Loads a model's parameters, and the step and state to resume from. Call it before {@code model.newTrainer}.
     *
     * @param folder the folder of the run's checkpoints
     * @param model a model with the same block as the saved one
     * @return step and state; empty if the folder has no checkpoint
     * @throws IOException if the checkpoint is damaged, or is not of a model; the message names the file
     * @throws MalformedModelException if the parameters are those of another block
     */
    public static Optional<Checkpoint> load(Path folder, Model model) throws IOException, MalformedModelException {
        Optional<Path> latest = Checkpoint.latest(folder);
        if (latest.isEmpty()) {
            return Optional.empty();
        }
        Checkpoint checkpoint = Checkpoint.load(latest.get());
        String name = checkpoint.files().keySet().stream().filter(file -> file.endsWith(ENDING)).findFirst()
                .orElseThrow(() -> new IOException(latest.get() + ": the checkpoint has the files "
                        + checkpoint.files().keySet() + ", expected " + FILE));
        try (DataInputStream in = new DataInputStream(
                new BufferedInputStream(Files.newInputStream(latest.get().resolve(name)), BUFFER_BYTES))) {
            model.getBlock().loadParameters(model.getNDManager(), in);
        }
        return Optional.of(checkpoint);
    }
}
