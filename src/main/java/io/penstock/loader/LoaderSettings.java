// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.ReadMode;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Settings that change a loader's speed and memory but never a byte of its batches. {@link DataLoaderBuilder#settings}
 * leaves alone what is empty.
 *
 * <p>They can be kept in a JSON file:
 *
 * <pre>{@code
 * {
 *   "loader_settings": 1,
 *   "workers": 2,
 *   "prefetch": 16,
 *   "read": "auto",
 *   "device_slots": 3,
 *   "note": "any text"
 * }
 * }</pre>
 *
 * <p>{@code loader_settings} is the format's version. Every other key may be left out. An unknown key is an error: a
 * misspelled setting must not be ignored silently.
 *
 * @param workers threads that collate, 0 to 1024
 * @param prefetch batches that may wait ahead of the trainer, 1 to 65,536
 * @param readMode how to read files
 * @param deviceSlots slots on the device, 2 to 1024, if batches are copied
 * @param note where the settings come from, for people; may be empty
 */
public record LoaderSettings(OptionalInt workers, OptionalInt prefetch, Optional<ReadMode> readMode,
        OptionalInt deviceSlots, String note) {

    private static final long FORM_VERSION = 1;
    private static final long MAX_FILE_BYTES = 1 << 16;
    private static final String VERSION_KEY = "loader_settings";
    private static final String WHAT = "loader settings";

    /** No setting: the loader keeps its defaults. */
    public static final LoaderSettings NONE = new LoaderSettings(OptionalInt.empty(), OptionalInt.empty(),
            Optional.empty(), OptionalInt.empty(), "");

    /** {@return the default number of workers, at least 1} */
    public static int defaultWorkers() {
        return LoaderDefaults.WORKERS;
    }

    /**
     * Returns a loader's defaults for a number of workers.
     *
     * @param workers threads that collate
     * @param slabBytes bytes of a batch
     * @param transfer whether batches are copied to the device; {@link TransferMode#AUTO} is taken for in place
     * @return settings of which none is empty
     */
    public static LoaderSettings defaults(int workers, long slabBytes, TransferMode transfer) {
        return new LoaderSettings(OptionalInt.of(workers),
                OptionalInt.of(LoaderDefaults.prefetch(workers, slabBytes, transfer == TransferMode.COPY)),
                Optional.of(LoaderDefaults.READ_MODE), OptionalInt.of(LoaderDefaults.DEVICE_SLOTS), "");
    }

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is out of its bounds
     */
    public LoaderSettings {
        within("workers", workers, 0, LoaderLimits.MOST_WORKERS);
        within("prefetch", prefetch, 1, LoaderLimits.MOST_PREFETCH);
        within("device_slots", deviceSlots, LoaderLimits.LEAST_DEVICE_SLOTS, LoaderLimits.MOST_DEVICE_SLOTS);
    }

    private static void within(String key, OptionalInt found, int least, int most) {
        if (found.isPresent() && (found.getAsInt() < least || found.getAsInt() > most)) {
            throw new IllegalArgumentException("not " + WHAT + ": " + key + ": found " + found.getAsInt()
                    + ", expected " + least + " to " + most);
        }
    }

    /** {@return the settings as JSON, with the fields in a fixed order and a line feed at the end} */
    public String toJson() {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put(VERSION_KEY, FORM_VERSION);
        workers.ifPresent(value -> fields.put("workers", value));
        prefetch.ifPresent(value -> fields.put("prefetch", value));
        readMode.ifPresent(value -> fields.put("read", value.toString()));
        deviceSlots.ifPresent(value -> fields.put("device_slots", value));
        if (!note.isEmpty()) {
            fields.put("note", note);
        }
        return Json.pretty(fields);
    }

    /**
     * Reads the text form back.
     *
     * @param json what {@link #toJson()} wrote, or a person
     * @return the settings
     * @throws IllegalArgumentException if the text is not settings of this version; the message says where and why
     */
    public static LoaderSettings fromJson(CharSequence json) {
        return of(JsonFields.parse(json, WHAT));
    }

    private static LoaderSettings of(JsonFields fields) {
        fields.expect(VERSION_KEY, FORM_VERSION);
        LoaderSettings settings = new LoaderSettings(integer(fields, "workers"), integer(fields, "prefetch"),
                fields.has("read") ? Optional.of(ReadMode.of(fields.text("read"))) : Optional.empty(),
                integer(fields, "device_slots"), fields.has("note") ? fields.text("note") : "");
        fields.end();
        return settings;
    }

    private static OptionalInt integer(JsonFields fields, String key) {
        return fields.has(key) ? OptionalInt.of(fields.integer(key)) : OptionalInt.empty();
    }

    /**
     * Writes the text form to a file, whole or not at all.
     *
     * @param file where; an existing file is replaced
     * @throws IOException if it cannot be written; the old file is then as it was
     */
    public void write(Path file) throws IOException {
        AtomicFile.write(file, toJson());
    }

    /**
     * Reads settings from a file.
     *
     * @param file what {@link #write} wrote, or a person
     * @return the settings
     * @throws MalformedStoreException if the file does not hold settings of this version; names the file
     * @throws IOException if it cannot be read
     */
    public static LoaderSettings read(Path file) throws IOException {
        return JsonFile.read(file, WHAT, MAX_FILE_BYTES, LoaderSettings::of);
    }

    /** For people: {@code workers 2, prefetch 16, read auto, device slots 3}. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        workers.ifPresent(value -> parts.add("workers " + value));
        prefetch.ifPresent(value -> parts.add("prefetch " + value));
        readMode.ifPresent(value -> parts.add("read " + value));
        deviceSlots.ifPresent(value -> parts.add("device slots " + value));
        return parts.isEmpty() ? "defaults" : String.join(", ", parts);
    }
}
