package io.penstock.loader;

import io.penstock.io.ReadMode;
import io.penstock.io.RegularFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * What changes a loader's speed and memory and never a byte of its batches, as a value that can be kept in a file. What
 * is empty is left as it is by {@link DataLoaderBuilder#settings}.
 *
 * <p>The file is JSON:
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
 * <p>{@code loader_settings} is the version of the form. Every other key may be left out; a key that is not listed here
 * is refused, since a misspelt setting that does nothing is worse than none.
 *
 * @param workers threads that collate, 0 to 1024
 * @param prefetch batches that may wait ahead of the trainer, 1 to 65,536
 * @param readMode how bytes of files are brought in
 * @param deviceSlots slots on the device, 2 to 1024, where batches are copied
 * @param note where the settings come from, for people; may be empty
 */
public record LoaderSettings(OptionalInt workers, OptionalInt prefetch, Optional<ReadMode> readMode,
        OptionalInt deviceSlots, String note) {

    private static final int FORM_VERSION = 1;
    private static final long MAX_FILE_BYTES = 1 << 16;
    private static final String VERSION_KEY = "loader_settings";
    private static final String NOT_SETTINGS = "not loader settings: ";

    /** Leaves everything as it is. */
    public static final LoaderSettings NONE = new LoaderSettings(OptionalInt.empty(), OptionalInt.empty(),
            Optional.empty(), OptionalInt.empty(), "");

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is out of its bounds
     */
    public LoaderSettings {
        within("workers", workers, 0, DataLoaderBuilder.MOST_WORKERS);
        within("prefetch", prefetch, 1, DataLoaderBuilder.MOST_PREFETCH);
        within("device_slots", deviceSlots, 2, DataLoaderBuilder.MOST_DEVICE_SLOTS);
    }

    private static void within(String key, OptionalInt found, int least, int most) {
        if (found.isPresent() && found.getAsInt() < least) {
            throw wrong(key, found.getAsInt(), "at least " + least);
        }
        if (found.isPresent() && found.getAsInt() > most) {
            throw wrong(key, found.getAsInt(), "at most " + most);
        }
    }

    /**
     * The text form, fields in a fixed order.
     *
     * @return JSON, with a line feed at its end
     */
    public String toJson() {
        Map<String, Object> fields = new LinkedHashMap<>();
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
        return parsed(() -> Json.parse(json));
    }

    private static LoaderSettings parsed(Supplier<Object> json) {
        Map<String, Object> fields;
        try {
            fields = new LinkedHashMap<>(Json.object(json.get()));
        } catch (JsonException e) {
            throw new IllegalArgumentException(NOT_SETTINGS + e.getMessage(), e);
        }
        OptionalInt version = integer(fields, VERSION_KEY);
        if (version.isEmpty() || version.getAsInt() != FORM_VERSION) {
            throw wrong(VERSION_KEY, version.isEmpty() ? "nothing" : version.getAsInt(),
                    Integer.toString(FORM_VERSION));
        }
        LoaderSettings settings = new LoaderSettings(integer(fields, "workers"), integer(fields, "prefetch"),
                readMode(fields), integer(fields, "device_slots"), note(fields));
        if (!fields.isEmpty()) {
            throw new IllegalArgumentException(NOT_SETTINGS + "found '" + fields.keySet().iterator().next()
                    + "', expected workers, prefetch, read, device_slots or note");
        }
        return settings;
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
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if it does not hold settings of this version; names the file
     */
    public static LoaderSettings read(Path file) throws IOException {
        if (Files.size(file) > MAX_FILE_BYTES) {
            throw new IllegalArgumentException(file + ": found " + Files.size(file)
                    + " bytes, expected settings of at most "
                    + MAX_FILE_BYTES);
        }
        try {
            byte[] utf8 = RegularFile.readAllBytes(file);
            return parsed(() -> Json.parse(utf8));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    private static OptionalInt integer(Map<String, Object> fields, String key) {
        if (!fields.containsKey(key)) {
            return OptionalInt.empty();
        }
        Object value = fields.remove(key);
        if (value instanceof Long number && number == (int) (long) number) {
            return OptionalInt.of(number.intValue());
        }
        throw wrong(key, value, "a 32-bit integer");
    }

    private static Optional<ReadMode> readMode(Map<String, Object> fields) {
        if (!fields.containsKey("read")) {
            return Optional.empty();
        }
        Object value = fields.remove("read");
        try {
            return Optional.of(ReadMode.of(String.valueOf(value)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(NOT_SETTINGS + "read: " + e.getMessage(), e);
        }
    }

    private static String note(Map<String, Object> fields) {
        Object value = fields.containsKey("note") ? fields.remove("note") : "";
        if (value instanceof String text) {
            return text;
        }
        throw wrong("note", value, "a string");
    }

    private static IllegalArgumentException wrong(String key, Object found, String expected) {
        return new IllegalArgumentException(NOT_SETTINGS + key + ": found " + found + ", expected " + expected);
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
