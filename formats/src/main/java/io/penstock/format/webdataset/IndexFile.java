// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.publish.Folder;
import io.penstock.io.publish.SpoolFile;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The index file beside a shard, {@code X.tar.penstock-index}, which saves the pass over the shard. It is a cache: an
 * index that is missing, damaged, out of bounds, or of another shard or version is built again.
 */
final class IndexFile {

    static final String ENDING = ".penstock-index";

    private static final System.Logger LOG = System.getLogger(IndexFile.class.getName());
    private static final int COPY_BYTES = 1 << 16;

    /** Where the index of a shard is: beside it, or with the copy of a remote one. */
    static Location of(Location shard) throws IOException {
        return shard.derived(ENDING).map(Location::of).orElseGet(() -> shard.resolveSibling(shard.name() + ENDING));
    }

    /** Reads the index of a shard into memory of the arena; null if there is no valid one. */
    static @Nullable ShardIndex read(Location shard, ShardState state, long maxTarBytes, Arena arena) {
        try {
            Location file = of(shard);
            return file.isFile() ? readFile(file, state, maxTarBytes, arena) : null;
        } catch (IOException | PenstockException e) {
            LOG.log(Level.INFO, () -> "the index of " + shard + " cannot be read, it is built again: " + e);
            return null;
        }
    }

    private static @Nullable ShardIndex readFile(Location file, ShardState state, long maxTarBytes, Arena arena)
            throws IOException {
        try (SeekableByteChannel channel = file.openChannel()) {
            long size = channel.size();
            MemorySegment header = arena.allocate(ShardIndex.HEADER_BYTES, Long.BYTES);
            if (size < ShardIndex.HEADER_BYTES || !readFully(channel, header)
                    || !isOf(header, size, state, maxTarBytes)) {
                return null;
            }
            MemorySegment bytes = arena.allocate(size, Long.BYTES);
            if (!readFully(channel, bytes) || bytes.get(LittleEndian.I32, ShardIndex.CRC_AT) != crc(bytes)
                    || !isOf(bytes, size, state, maxTarBytes)) {
                return null;
            }
            ShardIndex index = new ShardIndex(bytes);
            return index.isConsistent() ? index : null;
        } catch (IndexOutOfBoundsException _) {
            return null; // the suffixes exceed their part
        }
    }

    /** Tells whether a header is of that shard's index, and its sizes agree with each other, the file and the tar. */
    private static boolean isOf(MemorySegment header, long fileBytes, ShardState state, long maxTarBytes) {
        long tarBytes = header.get(LittleEndian.I64, ShardIndex.TAR_BYTES_AT);
        long samples = header.get(LittleEndian.I64, ShardIndex.SAMPLES_AT);
        long members = header.get(LittleEndian.I64, ShardIndex.MEMBERS_AT);
        long suffixBytes = header.get(LittleEndian.I64, ShardIndex.SUFFIX_BYTES_AT);
        long suffixes = header.get(LittleEndian.I32, ShardIndex.SUFFIX_COUNT_AT);
        byte[] magic = header.asSlice(0, ShardIndex.MAGIC.length()).toArray(ValueLayout.JAVA_BYTE);
        byte[] content = header.asSlice(ShardIndex.CONTENT_AT, ShardIndex.CONTENT_BYTES)
                .toArray(ValueLayout.JAVA_BYTE);
        return Arrays.equals(magic, ShardIndex.MAGIC.getBytes(StandardCharsets.US_ASCII))
                && header.get(LittleEndian.I32, ShardIndex.VERSION_AT) == ShardIndex.VERSION
                && header.get(LittleEndian.I64, ShardIndex.FILE_BYTES_AT) == state.byteSize()
                && (header.get(LittleEndian.I64, ShardIndex.MTIME_AT) == state.mtimeNanos()
                        || state.mtimeNanos() == ShardState.UNKNOWN)
                && Arrays.equals(content, state.content())
                && tarBytes >= 0 && tarBytes <= maxTarBytes
                // Each member has a header in the tar, which bounds the counts, so nothing overflows.
                && members >= 0 && members <= tarBytes / TarReader.BLOCK_BYTES && members <= 0xFFFF_FFFFL
                && samples >= 0 && samples <= members
                && header.get(LittleEndian.I64, ShardIndex.REGULAR_AT) >= members
                && suffixes >= 0 && suffixes <= Suffixes.MAX_COUNT
                && suffixBytes >= 0 && suffixBytes <= fileBytes && suffixBytes % Long.BYTES == 0
                && ShardIndex.byteSize(suffixBytes, samples, members) == fileBytes;
    }

    /**
     * Writes the index of a shard atomically. If that fails, for example in a read-only folder, the index is built
     * again at the next open.
     */
    static void write(Location shard, ShardIndex index) {
        Path file = place(shard).orElse(null);
        if (file == null) {
            return;
        }
        Path folder = Folder.of(file);
        if (!Files.isWritable(folder)) {
            return;
        }
        Path temporary = folder.resolve("." + file.getFileName() + ".writing");
        try (FileChannel channel = create(temporary)) {
            if (channel == null) {
                return; // another process writes the same index
            }
            try (SpoolFile spool = new SpoolFile(channel, file, COPY_BYTES)) {
                write(spool, sealed(index), temporary, file);
            }
        } catch (IOException e) {
            LOG.log(Level.INFO, () -> file + " cannot be written, the index stays in memory: " + e);
        }
    }

    private static Optional<Path> place(Location shard) {
        Path tar = shard.local().orElse(null);
        if (tar != null) {
            // Only a store's writer creates files in its committed folder.
            return tar.toString().equals(shard.path()) ? Optional.of(tar.resolveSibling(tar.getFileName() + ENDING))
                    : Optional.empty();
        }
        try {
            return shard.derived(ENDING);
        } catch (IOException e) {
            LOG.log(Level.INFO, () -> "the index of " + shard + " stays in memory: " + e);
            return Optional.empty();
        }
    }

    private static void write(SpoolFile spool, MemorySegment bytes, Path temporary, Path file) throws IOException {
        try {
            spool.put(bytes, 0, bytes.byteSize());
            spool.force();
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
    }

    /**
     * Creates and locks a file; null if it is in use. An existing file is in use if it is locked; otherwise its writer
     * is dead, and it is replaced.
     */
    private static @Nullable FileChannel create(Path temporary) throws IOException {
        for (boolean again = false; ; again = true) {
            try {
                FileChannel created = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.WRITE);
                if (lock(created)) {
                    return created;
                }
                created.close();
                return null;
            } catch (FileAlreadyExistsException e) {
                if (again || !isStale(temporary)) {
                    return null;
                }
                Files.deleteIfExists(temporary);
            }
        }
    }

    private static boolean isStale(Path temporary) throws IOException {
        try (FileChannel left = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
            return lock(left);
        } catch (NoSuchFileException _) {
            return true;
        }
    }

    /** Returns false if another process holds the lock. Without locks, two may write: the checksum shows a mixture. */
    private static boolean lock(FileChannel file) {
        try {
            return file.tryLock() != null;
        } catch (OverlappingFileLockException _) {
            return false;
        } catch (IOException _) {
            return true;
        }
    }

    static MemorySegment sealed(ShardIndex index) {
        MemorySegment bytes = index.bytes();
        bytes.set(LittleEndian.I32, ShardIndex.CRC_AT, crc(bytes));
        return bytes;
    }

    private static int crc(MemorySegment bytes) {
        CRC32C crc = new CRC32C();
        update(crc, bytes.asSlice(0, ShardIndex.CRC_AT));
        update(crc, bytes.asSlice(ShardIndex.CRC_AT + Integer.BYTES));
        return (int) crc.getValue();
    }

    private static void update(CRC32C crc, MemorySegment bytes) {
        for (long at = 0; at < bytes.byteSize(); at += COPY_BYTES) {
            crc.update(bytes.asSlice(at, Math.min(COPY_BYTES, bytes.byteSize() - at)).asByteBuffer());
        }
    }

    /** Reads a file from its start; returns false if it is too short. */
    private static boolean readFully(SeekableByteChannel channel, MemorySegment bytes) throws IOException {
        channel.position(0);
        for (long at = 0; at < bytes.byteSize(); ) {
            int read = channel.read(bytes.asSlice(at, Math.min(COPY_BYTES, bytes.byteSize() - at)).asByteBuffer());
            if (read <= 0) {
                return false;
            }
            at += read;
        }
        return true;
    }
}
