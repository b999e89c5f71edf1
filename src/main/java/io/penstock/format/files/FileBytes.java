package io.penstock.format.files;

import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.file.RegularFile;
import io.penstock.io.spill.UnnamedFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The content of files, each brought in when it is located for the first time, and valid until the store is closed.
 *
 * <p>Large files are mapped, as long as there are not too many. A mapping and a descriptor a file is what a process
 * has only some ten thousands of, while a tree of images has a million: small files, and what is beyond, are read once
 * and appended to a file that has no name, in the folder that {@value UnnamedFile#FOLDER_PROPERTY} names. So the
 * first epoch opens each file once, and the ones that follow open none.
 */
final class FileBytes implements AutoCloseable {

    private static final long MAPPED_FROM_BYTES = 256 << 10;
    private static final int MAX_MAPPED = 2048;
    private static final long CHUNK_BYTES = 1L << 30;
    private static final int COPY_BYTES = 1 << 20;
    private static final int STRIPES = 64;
    private static final int OFFSET_BITS = 40;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** A part of the copy: written through one handle, read through the mapping. */
    private static final class Chunk {

        private final MappedFile file;
        private final RandomAccessFile writer;
        private final int index;
        private long used;

        Chunk(MappedFile file, RandomAccessFile writer, int index) {
            this.file = file;
            this.writer = writer;
            this.index = index;
        }

        synchronized void write(long offset, byte[] bytes, int length) throws IOException {
            writer.seek(offset);
            writer.write(bytes, 0, length);
        }
    }

    private final FileList list;
    private final Path realRoot;
    /** By file: 0 until it is there, then 1 more than the number of its mapping, shifted, and its offset. */
    private final MemorySegment places;
    private final MemorySegment sizes;
    private final Object[] locks = new Object[STRIPES];
    private final List<RandomAccessFile> writers = new ArrayList<>();
    private volatile MappedFile[] mappings = new MappedFile[0];
    private Chunk chunk;
    private int mapped;
    private boolean closed;

    FileBytes(FileList list, Arena arena) throws IOException {
        this.list = list;
        this.realRoot = list.root().toRealPath();
        this.places = arena.allocate(Math.max(1, list.size()) * Long.BYTES, Long.BYTES);
        this.sizes = arena.allocate(Math.max(1, list.size()) * Long.BYTES, Long.BYTES);
        Arrays.setAll(locks, _ -> new Object());
    }

    void locate(long file, Span into) {
        long place = (long) LONG.getAcquire(places, file * Long.BYTES);
        if (place == 0) {
            place = bringIn(file);
        }
        into.set(mappings[(int) (place >>> OFFSET_BITS) - 1], place & (1L << OFFSET_BITS) - 1,
                (long) LONG.get(sizes, file * Long.BYTES));
    }

    private long bringIn(long file) {
        synchronized (locks[(int) (file % STRIPES)]) {
            long place = (long) LONG.getAcquire(places, file * Long.BYTES);
            if (place != 0) {
                return place;
            }
            Path path = list.root().resolve(list.path(file));
            try {
                if (!path.toRealPath().startsWith(realRoot)) {
                    throw new IOException(path + ": a link that leaves " + list.root());
                }
                place = bringIn(file, path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            LONG.setRelease(places, file * Long.BYTES, place);
            return place;
        }
    }

    private long bringIn(long file, Path path) throws IOException {
        long size = Files.size(path);
        if (size >= MAPPED_FROM_BYTES && mayMap(size)) {
            MappedFile mapping = MappedFile.open(path);
            LONG.set(sizes, file * Long.BYTES, mapping.byteSize());
            return place(add(mapping), 0);
        }
        Chunk target;
        long offset;
        synchronized (this) {
            if (chunk == null || chunk.used + size > chunk.file.byteSize()) {
                chunk = newChunk(Math.max(CHUNK_BYTES, size));
            }
            target = chunk;
            offset = target.used;
            target.used += size;
        }
        copy(path, size, target, offset);
        LONG.set(sizes, file * Long.BYTES, size);
        return place(target.index, offset);
    }

    private static long place(int mapping, long offset) {
        return mapping + 1L << OFFSET_BITS | offset;
    }

    private void copy(Path path, long size, Chunk target, long offset) throws IOException {
        // Not a channel: the interrupt of this thread would close it in the middle of the file.
        try (InputStream in = RegularFile.newFileStream(path)) {
            byte[] bytes = new byte[(int) Math.min(size, COPY_BYTES)];
            long done = 0;
            while (done < size) {
                int read = in.readNBytes(bytes, 0, (int) Math.min(bytes.length, size - done));
                if (read == 0) {
                    throw new IOException(path + ": the file shrank while it was read: " + done + " bytes, expected "
                            + size);
                }
                write(target, offset + done, bytes, read);
                done += read;
            }
        }
    }

    private void write(Chunk target, long offset, byte[] bytes, int length) throws IOException {
        try {
            target.write(offset, bytes, length);
        } catch (IOException e) {
            throw new IOException(list.root() + ": the copy of its small files cannot be written: " + e.getMessage(),
                    e);
        }
    }

    private synchronized boolean mayMap(long size) {
        if (mapped < MAX_MAPPED || size >= CHUNK_BYTES) {
            mapped++;
            return true;
        }
        return false;
    }

    private synchronized int add(MappedFile mapping) {
        if (closed) {
            mapping.close();
            throw new IllegalStateException(list.root() + ": the store is closed");
        }
        MappedFile[] more = Arrays.copyOf(mappings, mappings.length + 1);
        more[mappings.length] = mapping;
        mappings = more;
        return more.length - 1;
    }

    private Chunk newChunk(long bytes) throws IOException {
        String folder = System.getProperty(UnnamedFile.FOLDER_PROPERTY);
        Path path = folder == null ? Files.createTempFile("penstock-files-", ".tmp")
                : Files.createTempFile(Path.of(folder), "penstock-files-", ".tmp");
        RandomAccessFile writer = null;
        try {
            writer = new RandomAccessFile(path.toFile(), "rw");
            writer.setLength(bytes);
            MappedFile mapping = MappedFile.openWritten(path);
            Chunk made = new Chunk(mapping, writer, add(mapping));
            writers.add(writer);
            return made;
        } catch (IOException e) {
            if (writer != null) {
                writer.close();
            }
            throw new IOException(list.root() + ": no copy of its small files can be made as " + path + ": "
                    + e.getMessage(), e);
        } finally {
            Files.deleteIfExists(path);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (MappedFile mapping : mappings) {
            mapping.close();
        }
        for (RandomAccessFile writer : writers) {
            try {
                writer.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        writers.clear();
    }
}
