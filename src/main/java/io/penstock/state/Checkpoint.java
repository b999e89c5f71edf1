// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.telemetry.Marks;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Ties a loader's state to the trainer's checkpoint. It is saved as {@value #FILE_NAME} beside the checkpoint's files,
 * with the step and each file's size and CRC-32C. Reading it back compares the files and rejects any that was
 * overwritten, truncated or mixed up, so a state is never used with the weights of another step.
 *
 * {@snippet :
 * trainer.saveWeights(folder.resolve("model.safetensors"));
 * Checkpoint.save(folder, step, loader.state(), "model.safetensors");
 * // …
 * Checkpoint checkpoint = Checkpoint.load(folder);
 * trainer.loadWeights(folder.resolve("model.safetensors"));
 * DataLoader.builder(dataset).shuffle(42).resume(checkpoint.state());
 * }
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
     * Ties a state to files of a checkpoint that are already written. The state's file is written atomically and
     * synced. Call this last: a checkpoint is then complete if this file exists. It {@linkplain Marks#begin marks}
     * itself as {@code checkpoint}.
     *
     * @param folder the checkpoint's folder
     * @param step the number of steps that the trainer has done
     * @param state {@code loader.state()} at that step
     * @param files names of the checkpoint's files, in the folder or below; each is read once for its checksum
     * @return what was saved
     * @throws IOException if a file cannot be read, or the state cannot be written
     * @throws IllegalArgumentException if a name leads out of the folder
     */
    public static Checkpoint save(Path folder, long step, LoaderState state, String... files) throws IOException {
        try (Marks.Mark _ = Marks.begin("checkpoint")) {
            Map<String, FileMark> marks = new TreeMap<>();
            for (String name : files) {
                marks.put(name, FileMark.of(Location.of(folder).below(name)));
            }
            Checkpoint checkpoint = new Checkpoint(step, state, marks);
            AtomicFile.write(folder.resolve(FILE_NAME), checkpoint.toJson() + "\n");
            return checkpoint;
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
     *     file
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
        Location file = folder.resolve(FILE_NAME);
        Checkpoint checkpoint = JsonFile.read(file, WHAT, MAX_FILE_BYTES, fields -> {
            Checkpoint read = of(fields);
            read.files.keySet().forEach(folder::below);
            return read;
        });
        List<String> differences = new ArrayList<>();
        for (Map.Entry<String, FileMark> each : new TreeMap<>(checkpoint.files).entrySet()) {
            Location one = folder.below(each.getKey());
            FileMark found = one.infoOfNamed().kind() == EntryKind.FILE ? FileMark.of(one) : null;
            if (!each.getValue().equals(found)) {
                differences.add(each.getKey() + (found == null ? " is missing"
                        : found.bytes != each.getValue().bytes ? " has " + found.bytes + " bytes, it had "
                                + each.getValue().bytes : " has different content"));
            }
        }
        if (!differences.isEmpty()) {
            throw new IOException(file + ": the checkpoint of step " + checkpoint.step + " has changed: "
                    + String.join("; ", differences));
        }
        return checkpoint;
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
