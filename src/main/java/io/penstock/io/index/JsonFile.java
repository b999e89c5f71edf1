// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.index;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;

/** Reads files of one JSON object. Malformed content throws a {@link MalformedStoreException} that names the file. */
public final class JsonFile {

    /** Reads the fields of an object; throws an {@link IllegalArgumentException} if a value is invalid. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(JsonFields fields) throws IOException;
    }

    /** Reads a local file, as {@link #read(Location, String, long, Reader)} does. */
    public static <T> T read(Path file, String what, long mostBytes, Reader<T> reader) throws IOException {
        return read(Location.of(file), what, mostBytes, reader);
    }

    /**
     * Reads a file.
     *
     * @param what what the file should be, for messages, such as {@code a loader state}
     * @param mostBytes its maximum size, so that a wrong path does not load a corpus into memory
     */
    public static <T> T read(Location file, String what, long mostBytes, Reader<T> reader) throws IOException {
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
