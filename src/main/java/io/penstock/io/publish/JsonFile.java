package io.penstock.io.publish;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.RegularFile;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads files that hold one JSON object. Whatever is wrong with the content is a {@link MalformedStoreException} that
 * names the file.
 */
public final class JsonFile {

    /**
     * Makes something of an object's fields.
     *
     * @param <T> what is made
     */
    @FunctionalInterface
    public interface Reader<T> {

        /**
         * Reads the fields.
         *
         * @param fields the object's
         * @return what they say
         * @throws IOException if more has to be read and cannot be
         * @throws IllegalArgumentException if they say what cannot be
         */
        T read(JsonFields fields) throws IOException;
    }

    private JsonFile() {
    }

    /**
     * Reads a file.
     *
     * @param <T> what is read
     * @param file the file
     * @param what it should be, for messages, such as {@code a loader state}
     * @param mostBytes how large it may be, so that a wrong path does not load a corpus into memory
     * @param reader reads the fields
     * @return what the reader made
     * @throws MalformedStoreException if the file is larger, no JSON object, or refused by the reader
     * @throws IOException if it cannot be read
     */
    public static <T> T read(Path file, String what, long mostBytes, Reader<T> reader) throws IOException {
        if (Files.size(file) > mostBytes) {
            throw new MalformedStoreException(file, Files.size(file) + " bytes", what + " of at most " + mostBytes);
        }
        try {
            return reader.read(JsonFields.parse(RegularFile.readAllBytes(file), what));
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(file, e);
        }
    }
}
