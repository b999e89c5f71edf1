// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A mapped file of a fixed size without a name, for a decoded copy: it is gone with the process. It takes address space
 * at once, and disk space where it is written, in the folder of the system property {@value #FOLDER_PROPERTY}, by
 * default the system's temporary folder. Thread-safe.
 */
public final class UnnamedFile implements AutoCloseable {

    /** The system property for the folder of decoded copies. */
    public static final String FOLDER_PROPERTY = "penstock.decoded.folder";

    private final Object store;
    private final MappedFile mapped;
    /** Not a channel: interrupting a writing thread would close it for all. */
    private final RandomAccessFile writer;

    private UnnamedFile(Object store, MappedFile mapped, RandomAccessFile writer) {
        this.store = store;
        this.mapped = mapped;
        this.writer = writer;
    }

    /** Creates a file of zeros. Messages name the store. */
    public static UnnamedFile create(Object store, long byteSize) throws IOException {
        Path path = createNamed();
        RandomAccessFile writer = null;
        try {
            writer = new RandomAccessFile(path.toFile(), "rw");
            writer.setLength(byteSize);
            return new UnnamedFile(store, MappedFile.openWritten(path), writer);
        } catch (IOException e) {
            if (writer != null) {
                writer.close();
            }
            throw new IOException(store + ": cannot create a decoded copy of " + byteSize + " bytes as " + path + ": "
                    + e.getMessage(), e);
        } finally {
            Files.deleteIfExists(path);
        }
    }

    /** Creates an empty file in the folder of decoded copies, whose name the caller deletes once it is open. */
    static Path createNamed() throws IOException {
        String folder = System.getProperty(FOLDER_PROPERTY);
        return folder == null ? Files.createTempFile("penstock-decoded-", ".tmp")
                : Files.createTempFile(Path.of(folder), "penstock-decoded-", ".tmp");
    }

    /** Returns the mapping, which is closed with this. */
    public MappedFile mapped() {
        return mapped;
    }

    /** Writes bytes of an array at a position of the file. */
    public synchronized void write(long at, byte[] bytes, int offset, int length) throws IOException {
        try {
            writer.seek(at);
            writer.write(bytes, offset, length);
        } catch (IOException e) {
            throw new IOException(store + ": its decoded copy cannot be written: " + e.getMessage(), e);
        }
    }

    /** Ends writing; the mapping stays. */
    void endWriting() throws IOException {
        writer.close();
    }

    /** Frees memory and disk space. Calling it again does nothing. */
    @Override
    public void close() {
        mapped.close();
        try {
            writer.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
