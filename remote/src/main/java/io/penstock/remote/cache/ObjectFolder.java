// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.local.RegularFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.os.SharedFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one version of an object: its name, its {@link BlockTable} and its bytes. It appears as a whole, by a
 * rename. Closing it releases its locks.
 *
 * <p>Bytes of the table's file that are locked stand for other things: byte b for the right to change block b, byte
 * {@code KEPT + b} (shared) for a reader that keeps block b, byte {@code OPEN} (shared) for the folder being in use.
 */
final class ObjectFolder implements AutoCloseable {

    static final String DATA = "data";

    private static final String DESCRIPTION = "object.json";
    private static final String ENDING = ".tmp";
    private static final long KEPT = 1L << 40;
    private static final long OPEN = 1L << 41;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final int WRITE_BYTES = 1 << 18;
    /** Larger parts are written as they come. */
    private static final int DIRECT_BYTES = 1 << 15;
    private static final int ATTEMPTS = 100;
    /** Buffers that no writer has: one of its own would stay until the collector comes, seldom. */
    private static final Queue<ByteBuffer> BUFFERS = new ConcurrentLinkedQueue<>();

    private final Path folder;
    private final SharedFile locks;
    final BlockTable table;

    private ObjectFolder(Path folder, SharedFile locks, BlockTable table) {
        this.folder = folder;
        this.locks = locks;
        this.table = table;
    }

    /** Opens the folder of an object; creates it if it is missing. */
    static ObjectFolder open(Path folder, RemoteObject object, int blockBytes) throws IOException {
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                if (!Files.isDirectory(folder)) {
                    create(folder, object, blockBytes);
                }
            } catch (NoSuchFileException _) {
                continue; // another process has removed the folder's parent
            }
            ObjectFolder opened = openInUse(folder);
            if (opened != null) {
                try {
                    Files.setLastModifiedTime(folder.resolve(DESCRIPTION), FileTime.from(Instant.now()));
                } catch (IOException | RuntimeException e) {
                    opened.close();
                    throw e;
                }
                return opened;
            }
        }
        throw new FileSystemException(folder.toString(), null, "other processes removed it " + ATTEMPTS + " times");
    }

    private static void create(Path folder, RemoteObject object, int blockBytes) throws IOException {
        Files.createDirectories(Objects.requireNonNull(folder.getParent()));
        Path temporary = temporary(folder);
        Files.createDirectory(temporary);
        try {
            Files.writeString(temporary.resolve(DESCRIPTION), Json.write(Json.members("name", object.name(),
                    "scope", object.scope(), "version", object.version(), "byte_size", object.byteSize())));
            BlockTable.create(temporary.resolve(BlockTable.NAME), object.byteSize(), blockBytes);
            try (RandomAccessFile data = new RandomAccessFile(temporary.resolve(DATA).toFile(), "rw")) {
                data.setLength(object.byteSize());
            }
            Files.move(temporary, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
            // Another process was faster.
        } finally {
            remove(temporary);
        }
    }

    private static Path temporary(Path folder) {
        return folder.resolveSibling("." + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ENDING);
    }

    /** Opens a folder and marks it as in use; returns null if it is being removed. */
    private static @Nullable ObjectFolder openInUse(Path folder) throws IOException {
        ObjectFolder opened;
        try {
            opened = openExisting(folder);
        } catch (NoSuchFileException _) {
            return null;
        }
        boolean isInUse = false;
        try {
            isInUse = opened.locks.tryShared(OPEN) && opened.locks.isCurrent();
        } finally {
            if (!isInUse) {
                opened.close();
            }
        }
        return isInUse ? opened : null;
    }

    /** Opens a folder without marking it as in use. */
    static ObjectFolder openExisting(Path folder) throws IOException {
        SharedFile locks = SharedFile.open(folder.resolve(BlockTable.NAME));
        try {
            return new ObjectFolder(folder, locks, BlockTable.open(folder.resolve(BlockTable.NAME)));
        } catch (IOException | RuntimeException e) {
            locks.close();
            throw e;
        }
    }

    static RemoteObject object(Path folder) throws IOException {
        Path file = folder.resolve(DESCRIPTION);
        try {
            JsonFields fields = JsonFields.parse(RegularFile.readAllBytes(file), "a cached object");
            return new RemoteObject(fields.text("name"), fields.has("scope") ? fields.text("scope") : "",
                    fields.text("version"), fields.whole("byte_size"));
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(file, e);
        }
    }

    /** When the object was last opened. */
    static Instant opened(Path folder) throws IOException {
        return Files.getLastModifiedTime(folder.resolve(DESCRIPTION)).toInstant();
    }

    Path path() {
        return folder;
    }

    Path data() {
        return folder.resolve(DATA);
    }

    /** Takes the right to change a block, without waiting. For one thread of this instance at a time. */
    boolean tryLock(int block) throws IOException {
        return locks.tryExclusive(block);
    }

    void unlock(int block) throws IOException {
        locks.release(block);
    }

    /** Prevents every process from dropping a block until this is closed, unless one is dropping it. */
    boolean tryKeep(int block) throws IOException {
        return locks.tryShared(KEPT + block);
    }

    /** Lets processes drop the blocks that this instance keeps. */
    void releaseKept() throws IOException {
        locks.release(KEPT, Math.max(1, table.blocks()));
    }

    /** Receives the bytes of a block, on any thread, and computes their checksum. */
    final class BlockWriter implements ObjectReader.Sink, AutoCloseable {

        private final FileChannel data;
        private final CRC32C crc = new CRC32C();
        private final int block;
        /** Collects parts that are small or on the heap: written one by one they would cost a call or a copy each. */
        private @Nullable ByteBuffer buffer;
        /** The bytes that were written, and those that are in the buffer. */
        private long done;
        private int collected;
        /** Guarded by the monitor, as is the buffer, which is another writer's then. */
        private boolean isClosed;

        /** Starts a block, whose lock the caller holds. */
        BlockWriter(int block) throws IOException {
            this.block = block;
            this.data = FileChannel.open(data(), StandardOpenOption.WRITE);
        }

        @Override
        public synchronized void accept(ByteBuffer bytes) throws IOException {
            if (isClosed) {
                throw new ClosedChannelException();
            }
            if (bytes.remaining() > table.length(block) - done - collected) {
                throw new FileSystemException(data().toString(), null, "more bytes than block " + block + " has");
            }
            if (bytes.isDirect() && bytes.remaining() >= DIRECT_BYTES) {
                flush();
                write(bytes);
            }
            while (bytes.hasRemaining()) {
                if (buffer == null) {
                    ByteBuffer free = BUFFERS.poll();
                    buffer = free == null ? ByteBuffer.allocateDirect(WRITE_BYTES) : free;
                }
                int part = Math.min(bytes.remaining(), buffer.capacity() - collected);
                buffer.put(collected, bytes, bytes.position(), part);
                bytes.position(bytes.position() + part);
                collected += part;
                if (collected == buffer.capacity()) {
                    flush();
                }
            }
        }

        /** Writes the buffered bytes to the file. */
        synchronized void flush() throws FileSystemException {
            if (buffer != null && collected > 0) {
                write(buffer.slice(0, collected));
                collected = 0;
            }
        }

        private void write(ByteBuffer bytes) throws FileSystemException {
            crc.update(bytes.duplicate());
            try {
                while (bytes.hasRemaining()) {
                    done += data.write(bytes, table.start(block) + done);
                }
            } catch (IOException e) {
                throw new FileSystemException(data().toString(), null, "cannot be written: " + e.getMessage());
            }
        }

        /** Makes the block, which was {@linkplain #flush written}, visible to all processes. */
        void publish() throws IOException {
            if (done != table.length(block)) {
                throw new IOException(data() + ": " + done + " bytes of block " + block + ", expected "
                        + table.length(block));
            }
            table.publish(block, (int) crc.getValue());
        }

        @Override
        public synchronized void close() throws IOException {
            isClosed = true;
            if (buffer != null) {
                BUFFERS.add(buffer);
                buffer = null;
            }
            data.close();
        }
    }

    /** Tells whether the bytes of a block have its checksum. */
    boolean isGood(int block) throws IOException {
        CRC32C crc = new CRC32C();
        // A buffer of its own would stay until the collector comes, and each block of a cache is checked.
        try (Arena arena = Arena.ofConfined();
                FileChannel data = FileChannel.open(data(), StandardOpenOption.READ)) {
            ByteBuffer chunk = arena.allocate(Math.min(CHUNK_BYTES, table.length(block))).asByteBuffer();
            long end = table.start(block) + table.length(block);
            for (long at = table.start(block); at < end;) {
                chunk.clear().limit((int) Math.min(chunk.capacity(), end - at));
                int read = data.read(chunk, at);
                if (read < 0) {
                    return false;
                }
                at += read;
                crc.update(chunk.flip());
            }
        }
        return (int) crc.getValue() == table.crc(block);
    }

    /**
     * Removes a block that no process fetches or keeps; returns its bytes, 0 if it is absent or in use. Not for an
     * instance that keeps blocks itself.
     */
    long drop(int block) throws IOException {
        if (!table.isPresent(block) || !locks.tryExclusive(block)) {
            return 0;
        }
        try (SharedFile data = SharedFile.open(data())) {
            if (!table.isPresent(block) || !locks.tryExclusive(KEPT + block)) {
                return 0;
            }
            try {
                table.drop(block);
                return data.removeRange(table.start(block), table.length(block)) ? table.length(block) : 0;
            } finally {
                locks.release(KEPT + block);
            }
        } finally {
            locks.release(block);
        }
    }

    /** Removes the folder if no process uses it, with all blocks. */
    boolean removeUnused() throws IOException {
        if (!locks.tryExclusive(OPEN)) {
            return false;
        }
        // Renamed first: a process that dies here leaves a leftover, and no folder that lacks a file.
        Path leftover = temporary(folder);
        Files.move(folder, leftover, StandardCopyOption.ATOMIC_MOVE);
        remove(leftover);
        return true;
    }

    static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException _) {
            return;
        }
        Files.deleteIfExists(folder);
    }

    /** Tells whether a folder is one that a process creates or removes, or left when it died. */
    static boolean isLeftover(Path folder) {
        return folder.getFileName().toString().endsWith(ENDING);
    }

    @Override
    public synchronized void close() {
        table.close();
        locks.close();
    }
}
