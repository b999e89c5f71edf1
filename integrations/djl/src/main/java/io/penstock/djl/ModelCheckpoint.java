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
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A model's parameters together with the loader's state, in one folder. A run that is killed at any moment finds the
 * previous checkpoint or the new one, complete.
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

    private static final String FILE = "model-%d-%d.params";
    private static final Pattern OURS = Pattern.compile("model-\\d+-\\d+\\.params(\\.part)?");
    private static final String PART = ".part";
    private static final int BUFFER_BYTES = 1 << 16;

    private ModelCheckpoint() {
    }

    /**
     * Saves both. Call it between steps: after {@code trainer.step()}, before the next batch is taken. An older
     * checkpoint in the folder is deleted when the new one is complete.
     *
     * @param folder the checkpoint's folder; created if it is missing
     * @param step the number of steps done
     * @param model the model, whose parameters are initialized
     * @param loader the loader that its batches come from
     * @return what was saved
     * @throws IOException if a file cannot be written; the older checkpoint is then unchanged
     */
    public static Checkpoint save(Path folder, long step, Model model, DataLoader loader) throws IOException {
        Files.createDirectories(folder);
        String name = freeName(folder, step);
        Path part = folder.resolve(name + PART);
        try (FileChannel file = FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING);
                DataOutputStream out = new DataOutputStream(
                        new BufferedOutputStream(Channels.newOutputStream(file), BUFFER_BYTES))) {
            model.getBlock().saveParameters(out);
            out.flush();
            file.force(true);
        }
        Files.move(part, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        Checkpoint saved = Checkpoint.save(folder, step, loader.state(), name);
        for (Path old : ours(folder)) {
            if (!old.endsWith(name)) {
                Files.deleteIfExists(old);
            }
        }
        return saved;
    }

    /**
     * Loads a model's parameters, and the step and state to resume from. Call it before {@code model.newTrainer}.
     *
     * @param folder the checkpoint's folder
     * @param model a model with the same block as the saved one
     * @return step and state; empty if the folder has no checkpoint
     * @throws IOException if the checkpoint is damaged, or is not of a model; the message names the file
     * @throws MalformedModelException if the parameters are those of another block
     */
    public static Optional<Checkpoint> load(Path folder, Model model) throws IOException, MalformedModelException {
        if (!Files.exists(folder.resolve(Checkpoint.FILE_NAME))) {
            return Optional.empty();
        }
        Checkpoint checkpoint = Checkpoint.load(folder);
        String name = checkpoint.files().keySet().stream().filter(file -> OURS.matcher(file).matches()).findFirst()
                .orElseThrow(() -> new IOException(folder + ": the checkpoint has the files "
                        + checkpoint.files().keySet() + ", expected one like "
                        + String.format(Locale.ROOT, FILE, checkpoint.step(), 0)));
        try (DataInputStream in = new DataInputStream(
                new BufferedInputStream(Files.newInputStream(folder.resolve(name)), BUFFER_BYTES))) {
            model.getBlock().loadParameters(model.getNDManager(), in);
        }
        return Optional.of(checkpoint);
    }

    /** A file of that name may belong to the checkpoint that is there, which stays as it is until the new one is. */
    private static String freeName(Path folder, long step) {
        long copy = 0;
        while (Files.exists(folder.resolve(String.format(Locale.ROOT, FILE, step, copy)))) {
            copy++;
        }
        return String.format(Locale.ROOT, FILE, step, copy);
    }

    private static List<Path> ours(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> OURS.matcher(file.getFileName().toString()).matches()).toList();
        }
    }
}
