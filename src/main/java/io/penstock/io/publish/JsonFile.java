// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;

/** Reads files of one JSON object. Malformed content throws a {@link MalformedStoreException} that names the file. */
public final class JsonFile {

    /**
     * Reads the fields of an object.
     *
     * @param <T> what is made of them
     */
    @FunctionalInterface
    public interface FieldsReader<T> {

        /**
         * Reads the fields.
         *
         * @param fields the object's fields
         * @return what is made of them
         * @throws IllegalArgumentException if a value is invalid
         * @throws IOException if another file that they name cannot be read
         */
        T read(JsonFields fields) throws IOException;
    }

    private JsonFile() {
    }

    /**
     * Reads a local file.
     *
     * @param <T> what is made of it
     * @param file the file
     * @param what what the file should be, for messages, such as {@code a loader state}
     * @param mostBytes its maximum size, so that a wrong path does not load a corpus into memory
     * @param reader reads its fields
     * @return what the reader returns
     * @throws MalformedStoreException if the content is malformed
     * @throws IOException if the file cannot be read
     */
    public static <T> T read(Path file, String what, long mostBytes, FieldsReader<T> reader) throws IOException {
        return read(Location.of(file), what, mostBytes, reader);
    }

    /**
     * Reads a file, as {@link #read(Path, String, long, FieldsReader)} does.
     *
     * @param <T> what is made of it
     * @param file the file
     * @param what what the file should be, for messages, such as {@code a loader state}
     * @param mostBytes its maximum size, so that a wrong path does not load a corpus into memory
     * @param reader reads its fields
     * @return what the reader returns
     * @throws MalformedStoreException if the content is malformed
     * @throws IOException if the file cannot be read
     */
    public static <T> T read(Location file, String what, long mostBytes, FieldsReader<T> reader) throws IOException {
        long bytes = file.byteSize();
        if (bytes > mostBytes) {
            throw new MalformedStoreException(file, bytes + " bytes", what + " of at most " + mostBytes);
        }
        try {
            return reader.read(JsonFields.parse(file.readAllBytes(), what));
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(file, e);
        }
    }
}
