// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.Folder;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.telemetry.Marks;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Ties a loader's state to the trainer's checkpoint. It is saved as {@value #FILE_NAME} beside the checkpoint's files,
 * with the step and each file's size and CRC-32C. Reading it back compares the files and rejects any that was
 * overwritten, truncated or mixed up, so a state is never used with the weights of another step.
 *
 * <p>Each checkpoint has a folder of its own, which is complete when this file is in it. A run that is killed at any
 * moment then finds the previous checkpoint or the new one. Do not write a step's weights over those of the previous
 * checkpoint: killed before {@link #save}, the run has no checkpoint left.
 *
 * {@snippet :
 * Optional<Path> latest = Checkpoint.latest(run);                     // of an earlier start
 * if (latest.isPresent()) {
 *     Checkpoint saved = Checkpoint.load(latest.get());
 *     trainer.loadWeights(latest.get().resolve("model.safetensors"));
 *     settings.resume(saved.state());
 *     step = saved.step();
 * }
 * // … every 100 steps, between two batches:
 * Path folder = Checkpoint.newFolder(run, step);                      // run/step-00000100
 * trainer.saveWeights(folder.resolve("model.safetensors"));
 * Checkpoint.save(folder, step, loader.state(), "model.safetensors");
 * Checkpoint.keepLatest(run, 2);
 * }
 *
 * <p>A run's folder is for one run. One process writes to it, one thread at a time; any number may read.
 *
 * @param step the number of steps that the trainer has done
 * @param state the loader's state at that step
 * @param files size and checksum of each file, by its name in the folder
 */
public record Checkpoint(long step, LoaderState state, Map<String, FileMark> files) {

    /** The file in the checkpoint's folder. */
    public static final String FILE_NAME = "penstock-checkpoint.json";

    /** The version of the text form. */
    public static final long FORMAT_VERSION = 1;

    private static final String VERSION_KEY = "penstock_checkpoint";
    private static final String WHAT = "a checkpoint's state";
    private static final int BUFFER_BYTES = 1 << 20;
    private static final long MAX_FILE_BYTES = 2 * LoaderState.MAX_FILE_BYTES;

    /**
     * Identifies a file's content.
     *
     * @param bytes its size
     * @param crc32c the checksum of its content
     */
    public record FileMark(long bytes, long crc32c) {

        private static FileMark of(Location file) throws IOException {
            CRC32C crc = new CRC32C();
            byte[] buffer = new byte[BUFFER_BYTES];
            long bytes = 0;
            try (InputStream in = file.newInputStream()) {
                for (int read = in.read(buffer); read > 0; read = in.read(buffer)) {
                    crc.update(buffer, 0, read);
                    bytes += read;
                }
            } catch (FileSystemException e) {
                throw e;
            } catch (IOException e) {
                throw new IOException(file + ": cannot be read at byte " + bytes + ": " + e.getMessage(), e);
            }
            return new FileMark(bytes, crc.getValue());
        }
    }

    /** Copies the map. */
    public Checkpoint {
        files = Map.copyOf(files);
    }

    /**
     * Creates the folder of a step's checkpoint, {@code step-00000120}, for the trainer to write its files to before it
     * calls {@link #save}. A folder of the step that a killed run left incomplete is emptied. If the step has a
     * checkpoint already, that stays, and this one gets a name behind it, {@code step-00000120-2}.
     *
     * @param run the folder of the run's checkpoints; created if it is missing
     * @param step the number of steps that the trainer has done
     * @return the folder, empty
     * @throws IOException if it cannot be created; a {@link java.nio.file.FileAlreadyExistsException} if the run has a
     *     checkpoint of a later step, which {@link #latest} would go on giving
     * @throws IllegalArgumentException if the step is negative
     */
    public static Path newFolder(Path run, long step) throws IOException {
        if (step < 0) {
            throw new IllegalArgumentException("step: found " + step + ", expected 0 or more");
        }
        return StepFolder.create(run, step).path();
    }

    /**
     * {@return the folder of the checkpoint with the highest step, to {@link #load}; empty on a run's first start} A
     * folder that a killed run left incomplete is passed over. A run's folder that is itself a checkpoint is returned
     * if it has no complete folder of a step.
     *
     * @param run the folder of the run's checkpoints; it need not exist
     * @throws IOException if the folder cannot be read
     */
    public static Optional<Path> latest(Path run) throws IOException {
        List<StepFolder> complete = StepFolder.complete(run);
        if (!complete.isEmpty()) {
            return Optional.of(complete.getLast().path());
        }
        return StepFolder.isComplete(run) ? Optional.of(run) : Optional.empty();
    }

    /**
     * Deletes a run's older checkpoints, and incomplete folders that a killed run left. Call it after {@link #save}. It
     * deletes only folders that have a name from {@link #newFolder}. A kill meanwhile leaves the latest ones whole.
     *
     * @param run the folder of the run's checkpoints
     * @param count how many to keep, at least 1
     * @throws IOException if one cannot be deleted; the latest are unchanged
     * @throws IllegalArgumentException if the count is less than 1
     */
    public static void keepLatest(Path run, int count) throws IOException {
        if (count < 1) {
            throw new IllegalArgumentException("count: found " + count + ", expected 1 or more");
        }
        StepFolder.keepLatest(run, count);
    }

    /**
     * Ties a state to files of a checkpoint that are already written. The files are synced, then the state's file is
     * written atomically and synced. Call this last: a checkpoint is then complete if this file exists. It
     * {@linkplain Marks#begin marks} itself as {@code checkpoint}.
     *
     * @param folder the checkpoint's folder, from {@link #newFolder}
     * @param step the number of steps that the trainer has done
     * @param state {@code loader.state()} at that step
     * @param files names of the checkpoint's files, in the folder or below; each is read once for its checksum
     * @return what was saved
     * @throws IOException if a file cannot be read or synced, or the state cannot be written
     * @throws IllegalArgumentException if a name leads out of the folder
     */
    public static Checkpoint save(Path folder, long step, LoaderState state, String... files) throws IOException {
        try (Marks.Mark _ = Marks.begin("checkpoint")) {
            Map<String, FileMark> marks = new TreeMap<>();
            Set<Path> folders = new LinkedHashSet<>();
            for (String name : files) {
                folders.add(folder);
                marks.put(name, FileMark.of(Location.of(folder).below(name)));
                sync(folder.resolve(name));
                for (Path inner = Path.of(name).getParent(); inner != null; inner = inner.getParent()) {
                    folders.add(folder.resolve(inner));
                }
            }
            for (Path each : folders) {
                Folder.flush(each);
            }
            Checkpoint checkpoint = new Checkpoint(step, state, marks);
            AtomicFile.write(folder.resolve(FILE_NAME), checkpoint.toJson() + "\n");
            return checkpoint;
        }
    }

    /** An older checkpoint may be deleted next: the files must survive a power cut from here on. */
    private static void sync(Path file) throws IOException {
        // Windows flushes only a file that is open for writing.
        boolean isPosix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        try (FileChannel channel = FileChannel.open(file,
                isPosix ? StandardOpenOption.READ : StandardOpenOption.WRITE)) {
            channel.force(true);
        } catch (FileSystemException | ClosedByInterruptException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException(file + ": cannot be synced: " + e.getMessage(), e);
        }
    }

    /**
     * Replaces the state of a checkpoint, atomically: one that was {@linkplain LoaderState#edit edited}. The other
     * files stay.
     *
     * @param folder the checkpoint's folder
     * @param edited the state to put in place of this one's
     * @return the checkpoint with it
     * @throws IOException if it cannot be written; the old one is then unchanged
     */
    public Checkpoint replaceState(Path folder, LoaderState edited) throws IOException {
        Checkpoint replaced = new Checkpoint(step, edited, files);
        AtomicFile.write(folder.resolve(FILE_NAME), replaced.toJson() + "\n");
        return replaced;
    }

    /**
     * Reads a checkpoint's state and compares its files with the saved sizes and checksums.
     *
     * @param folder the checkpoint's folder
     * @return the step and state
     * @throws IOException if the state is missing or malformed, or a file has changed; the message names every changed
     *     file, and a whole checkpoint beside this one
     */
    public static Checkpoint load(Path folder) throws IOException {
        return load(Location.of(folder));
    }

    /**
     * {@return the step and state of a checkpoint whose folder may be remote, read as {@link #load(Path)} does}
     *
     * @param folder the checkpoint's folder
     * @throws IOException as {@link #load(Path)}
     */
    public static Checkpoint load(Location folder) throws IOException {
        Checkpoint checkpoint = read(folder);
        List<String> differences = checkpoint.differences(folder);
        if (!differences.isEmpty()) {
            throw new IOException(folder.resolve(FILE_NAME) + ": the checkpoint of step " + checkpoint.step
                    + " has changed: " + String.join("; ", differences) + ". A file was damaged, or was overwritten"
                    + " later, as by a run that was killed before it saved its state. " + wayOut(folder));
        }
        return checkpoint;
    }

    private static Checkpoint read(Location folder) throws IOException {
        return JsonFile.read(folder.resolve(FILE_NAME), WHAT, MAX_FILE_BYTES, fields -> {
            Checkpoint read = of(fields);
            read.files.keySet().forEach(folder::below);
            return read;
        });
    }

    private List<String> differences(Location folder) throws IOException {
        List<String> differences = new ArrayList<>();
        for (Map.Entry<String, FileMark> each : new TreeMap<>(files).entrySet()) {
            Location one = folder.below(each.getKey());
            FileMark found = one.infoOfNamed().kind() == EntryKind.FILE ? FileMark.of(one) : null;
            if (!each.getValue().equals(found)) {
                differences.add(each.getKey() + (found == null ? " is missing"
                        : found.bytes != each.getValue().bytes ? " has " + found.bytes + " bytes, it had "
                                + each.getValue().bytes : " has different content"));
            }
        }
        return differences;
    }

    /** What to resume from instead of a checkpoint that has changed. */
    private static String wayOut(Location changed) {
        for (StepFolder other : changed.local().map(StepFolder::beside).orElse(List.of()).reversed()) {
            if (isWhole(Location.of(other.path()))) {
                return "The checkpoint of step " + other.step() + " is whole, " + other.path() + ": to resume from it,"
                        + " delete " + changed;
            }
        }
        return "Resume from another checkpoint, or start again; where each checkpoint has a folder of its own"
                + " (Checkpoint.newFolder), a kill leaves the previous one";
    }

    private static boolean isWhole(Location folder) {
        try {
            return read(folder).differences(folder).isEmpty();
        } catch (IOException _) {
            return false;
        }
    }

    /**
     * {@return one line of JSON, such as
     * {@code {"penstock_checkpoint":1,"step":100,"state":{…},"files":{"model.bin":[4096,77]}}}}
     */
    public String toJson() {
        Map<String, @Nullable Object> marks = new LinkedHashMap<>();
        new TreeMap<>(files).forEach((name, mark) -> marks.put(name, List.of(mark.bytes, mark.crc32c)));
        Map<String, @Nullable Object> fields = Json.members(VERSION_KEY, FORMAT_VERSION, "step", step,
                "state", Json.parse(state.toJson()), "files", marks);
        return Json.write(fields);
    }

    /**
     * Reads the text form back.
     *
     * @param json what {@link #toJson()} wrote
     * @return step, state and files
     * @throws IllegalArgumentException if the text is not this version of the format
     */
    public static Checkpoint fromJson(CharSequence json) {
        return of(JsonFields.parse(json, WHAT));
    }

    private static Checkpoint of(JsonFields fields) {
        fields.expect(VERSION_KEY, FORMAT_VERSION);
        long step = fields.whole("step");
        LoaderState state = LoaderState.of(fields.object("state"));
        JsonFields files = fields.object("files");
        Map<String, FileMark> marks = new TreeMap<>();
        for (String name : files.names()) {
            long[] mark = files.wholes(name, 0, Long.MAX_VALUE);
            if (mark.length != 2) {
                throw files.wrong(name, mark.length + " numbers", "its size and its checksum");
            }
            marks.put(name, new FileMark(mark[0], mark[1]));
        }
        fields.end();
        return new Checkpoint(step, state, marks);
    }
}
