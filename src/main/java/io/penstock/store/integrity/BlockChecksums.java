// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.publish.StagingFolder;
import io.penstock.memory.LittleEndian;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The checksums of a file's blocks, in a sidecar file: those of {@code corpus.bin} are in {@code corpus.bin.crc32c}.
 * Blocks are short, so random reads check only what they read, and damage is located to the block. CRC-32C runs at
 * memory bandwidth. It detects damage, not forgery.
 *
 * <pre>
 *   offset   size
 *        0      8   magic: 89 'C' '3' '2' 'C' 0D 0A 1A
 *        8      4   u32 version: 1
 *       12      4   u32 B, the bytes of a block: a power of two, 4096 to 67,108,864
 *       16      8   u64 F, the bytes of the file
 *       24    4·n   u32 the CRC-32C of each block, n = ceil(F / B); the last block may be shorter
 *   24+4·n      4   u32 the CRC-32C of everything before
 * </pre>
 *
 * <p>All numbers are little-endian. CRC-32C is that of RFC 3720 (iSCSI): polynomial 0x1EDC6F41, reflected.
 * Immutable; any number of threads may read it.
 */
public final class BlockChecksums {

    /** The suffix of the sidecar's name. */
    public static final String SUFFIX = ".crc32c";
    /** The default block size. */
    public static final int DEFAULT_BLOCK_BYTES = 64 << 10;

    private static final int MIN_BLOCK_BYTES = 4096;
    private static final int MAX_BLOCK_BYTES = 64 << 20;
    private static final byte[] MAGIC = {(byte) 0x89, 'C', '3', '2', 'C', 0x0D, 0x0A, 0x1A};
    private static final int VERSION = 1;
    private static final int VERSION_OFFSET = 8;
    private static final int BLOCK_BYTES_OFFSET = 12;
    private static final int FILE_BYTES_OFFSET = 16;
    private static final int HEADER_BYTES = 24;
    /** 16 TiB in blocks of 64 KiB, with 1 GiB of checksums. */
    private static final int MAX_BLOCKS = 1 << 28;

    private final Location file;
    private final int blockBytes;
    private final long fileBytes;
    private final int[] crcs;

    private BlockChecksums(Location file, int blockBytes, long fileBytes, int[] crcs) {
        this.file = file;
        this.blockBytes = blockBytes;
        this.fileBytes = fileBytes;
        this.crcs = crcs;
    }

    /** Computes the checksums of a file as it is written, in blocks of the default size. For one thread. */
    public static final class Sums {

        private final CRC32C crc = new CRC32C();
        private int[] crcs = new int[16];
        private long bytes;

        /** Begins with an empty file. */
        public Sums() {
        }

        /**
         * Adds bytes to the end of the file.
         *
         * @param more the bytes between position and limit; the position moves to the limit
         */
        public void add(ByteBuffer more) {
            int limit = more.limit();
            while (more.position() < limit) {
                long left = DEFAULT_BLOCK_BYTES - bytes % DEFAULT_BLOCK_BYTES;
                int step = (int) Math.min(left, limit - more.position());
                crc.update(more.limit(more.position() + step));
                bytes += step;
                if (step == left) {
                    end();
                }
            }
        }

        private void end() {
            int block = Math.toIntExact((bytes - 1) / DEFAULT_BLOCK_BYTES);
            if (block == crcs.length) {
                crcs = Arrays.copyOf(crcs, 2 * block);
            }
            crcs[block] = (int) crc.getValue();
            crc.reset();
        }

        /**
         * {@return the checksums of the file that has these bytes} Nothing can be added any more.
         *
         * @param file the file
         * @throws IOException if it has more blocks than a sidecar can have
         */
        public BlockChecksums of(Location file) throws IOException {
            if (bytes % DEFAULT_BLOCK_BYTES != 0) {
                end();
            }
            int blocks = checkCount(file, Math.ceilDiv(bytes, (long) DEFAULT_BLOCK_BYTES));
            return new BlockChecksums(file, DEFAULT_BLOCK_BYTES, bytes, Arrays.copyOf(crcs, blocks));
        }
    }

    /**
     * {@return the path of the sidecar with a file's checksums; it need not exist}
     *
     * @param file the file
     */
    public static Path pathFor(Path file) {
        return file.resolveSibling(file.getFileName() + SUFFIX);
    }

    static Location locationFor(Location file) {
        return file.resolveSibling(file.name() + SUFFIX);
    }

    /**
     * Computes the checksums of a file.
     *
     * @param file the file
     * @param blockBytes the bytes of a block: a power of two, 4096 to 67,108,864
     * @param progress receives the bytes read
     * @return the checksums
     * @throws IOException if the file cannot be read, or its size changes meanwhile
     * @throws IllegalArgumentException if the block size is invalid
     */
    public static BlockChecksums compute(Location file, int blockBytes, LongConsumer progress) throws IOException {
        if (!isBlockSize(blockBytes)) {
            throw new IllegalArgumentException("blocks of " + blockBytes
                    + " bytes, expected a power of two from 4096 to 67108864");
        }
        try (BlockReader reader = BlockReader.open(file, blockBytes)) {
            long blocks = Math.ceilDiv(reader.fileBytes(), (long) blockBytes);
            int[] crcs = new int[checkCount(file, blocks)];
            reader.forEach(0, blocks, (block, crc) -> {
                crcs[(int) block] = crc;
                progress.accept(Math.min((block + 1) * blockBytes, reader.fileBytes()));
            });
            return new BlockChecksums(file, blockBytes, reader.fileBytes(), crcs);
        }
    }

    private static int checkCount(Location file, long blocks) throws IOException {
        if (blocks > MAX_BLOCKS) {
            throw new IOException(file + ": " + blocks + " blocks, expected at most " + MAX_BLOCKS
                    + " (larger blocks would be fewer)");
        }
        return (int) blocks;
    }

    /**
     * Computes the checksums of a file and writes the sidecar atomically.
     *
     * @param file the file
     * @param ifExists what to do if there is a sidecar
     * @param progress receives the bytes read
     * @return the checksums
     * @throws FileAlreadyExistsException if there is a sidecar and {@code ifExists} says so
     * @throws IOException if the file cannot be read or the sidecar cannot be written
     */
    public static BlockChecksums write(Path file, IfExists ifExists, LongConsumer progress) throws IOException {
        Path path = pathFor(file);
        String name = path.getFileName().toString();
        StagingFolder.finish(file, name);
        if (ifExists == IfExists.FAIL) {
            StagingFolder.requireAbsent(path);
        }
        BlockChecksums checksums = compute(Location.of(file), DEFAULT_BLOCK_BYTES, progress);
        try (StagingFolder staging = StagingFolder.open(path)) {
            staging.write(name, MemorySegment.ofArray(checksums.toBytes()));
            staging.publish(List.of(name));
        }
        return checksums;
    }

    /** {@return the content of the sidecar} */
    public byte[] toBytes() {
        byte[] bytes = new byte[Math.toIntExact(sizeFor(crcs.length))];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        MemorySegment.copy(MemorySegment.ofArray(MAGIC), 0, segment, 0, MAGIC.length);
        segment.set(LittleEndian.I32, VERSION_OFFSET, VERSION);
        segment.set(LittleEndian.I32, BLOCK_BYTES_OFFSET, blockBytes);
        segment.set(LittleEndian.I64, FILE_BYTES_OFFSET, fileBytes);
        MemorySegment.copy(crcs, 0, segment, LittleEndian.I32, HEADER_BYTES, crcs.length);
        CRC32C own = new CRC32C();
        own.update(bytes, 0, bytes.length - Integer.BYTES);
        segment.set(LittleEndian.I32, bytes.length - Integer.BYTES, (int) own.getValue());
        return bytes;
    }

    /**
     * Reads a file's checksums from its sidecar.
     *
     * @param file the file, as it was opened; it need not exist
     * @return its checksums, or null if there are none
     * @throws MalformedStoreException if the sidecar is malformed; names it
     * @throws IOException if they cannot be read
     */
    public static @Nullable BlockChecksums read(Location file) throws IOException {
        Location path = locationFor(file);
        return path.isFile() ? read(file, path) : null;
    }

    private static BlockChecksums read(Location file, Location path) throws IOException {
        long size = path.byteSize();
        if (size < sizeFor(0) || size > sizeFor(MAX_BLOCKS)) {
            throw new MalformedStoreException(path, size + " bytes", sizeFor(0) + " to " + sizeFor(MAX_BLOCKS)
                    + " bytes of block checksums");
        }
        try (InputStream in = path.newInputStream()) {
            MemorySegment header = MemorySegment.ofArray(readFully(in, HEADER_BYTES, path));
            int blockBytes = header.get(LittleEndian.I32, BLOCK_BYTES_OFFSET);
            long fileBytes = header.get(LittleEndian.I64, FILE_BYTES_OFFSET);
            checkHeader(path, header, blockBytes, fileBytes, size);
            int[] crcs = new int[(int) Math.ceilDiv(fileBytes, (long) blockBytes)];
            int crcBytes = Math.toIntExact(Integer.BYTES * (long) crcs.length);
            byte[] rest = readFully(in, crcBytes + Integer.BYTES, path);
            CRC32C own = new CRC32C();
            own.update(header.asByteBuffer());
            own.update(rest, 0, crcBytes);
            MemorySegment segment = MemorySegment.ofArray(rest);
            int found = segment.get(LittleEndian.I32, crcBytes);
            int expected = (int) own.getValue();
            if (found != expected) {
                throw new MalformedStoreException(path, size - Integer.BYTES, "CRC-32C " + hex(found), hex(expected)
                        + " of the bytes before (the checksums themselves are damaged)");
            }
            MemorySegment.copy(segment, LittleEndian.I32, 0, crcs, 0, crcs.length);
            return new BlockChecksums(file, blockBytes, fileBytes, crcs);
        }
    }

    private static byte[] readFully(InputStream in, int bytes, Location path) throws IOException {
        byte[] read = in.readNBytes(bytes);
        if (read.length < bytes) {
            throw new MalformedStoreException(path, "a file that shrank while it was read", "block checksums");
        }
        return read;
    }

    private static void checkHeader(Location path, MemorySegment header, int blockBytes, long fileBytes, long size) {
        if (header.mismatch(MemorySegment.ofArray(MAGIC)) != MAGIC.length) {
            throw new MalformedStoreException(path, 0, "no magic of block checksums", "89 43 33 32 43 0d 0a 1a");
        }
        int version = header.get(LittleEndian.I32, VERSION_OFFSET);
        if (version != VERSION) {
            throw new MalformedStoreException(path, VERSION_OFFSET, "version " + Integer.toUnsignedString(version),
                    Integer.toString(VERSION));
        }
        if (!isBlockSize(blockBytes)) {
            throw new MalformedStoreException(path, BLOCK_BYTES_OFFSET, "blocks of "
                    + Integer.toUnsignedString(blockBytes) + " bytes", "a power of two from 4096 to 67108864");
        }
        if (fileBytes < 0 || sizeFor(Math.ceilDiv(fileBytes, (long) blockBytes)) != size) {
            throw new MalformedStoreException(path, FILE_BYTES_OFFSET, "a file of " + Long.toUnsignedString(fileBytes)
                    + " bytes in blocks of " + blockBytes, "as many as " + size + " bytes of checksums are for");
        }
    }

    private static boolean isBlockSize(int bytes) {
        return bytes >= MIN_BLOCK_BYTES && bytes <= MAX_BLOCK_BYTES && Integer.bitCount(bytes) == 1;
    }

    private static long sizeFor(long blocks) {
        return HEADER_BYTES + Integer.BYTES * blocks + Integer.BYTES;
    }

    static String hex(int crc) {
        return String.format(Locale.ROOT, "%08x", crc);
    }

    /** {@return the file that the checksums cover} */
    public Location file() {
        return file;
    }

    /** {@return the sidecar's location} */
    public Location location() {
        return locationFor(file);
    }

    /** {@return the bytes of a block, a power of two; the last block may be shorter} */
    public int blockBytes() {
        return blockBytes;
    }

    /** {@return the file's size when the checksums were computed, in bytes} */
    public long fileBytes() {
        return fileBytes;
    }

    /** {@return the number of blocks; 0 for an empty file} */
    public int blocks() {
        return crcs.length;
    }

    /**
     * {@return the CRC-32C of a block}
     *
     * @param block its number
     * @throws IndexOutOfBoundsException if there is no such block
     */
    public int crc(long block) {
        Objects.checkIndex(block, (long) crcs.length);
        return crcs[(int) block];
    }

    /**
     * Checks the size of the file.
     *
     * @param found its size in bytes
     * @throws MalformedStoreException if the checksums are for another size; names the file
     */
    public void checkSize(long found) {
        if (found != fileBytes) {
            throw new MalformedStoreException(file, found + " bytes", fileBytes + ", as " + locationFor(file).name()
                    + " says (if the file was rewritten, rewrite its checksums)");
        }
    }

    /**
     * Checks a block.
     *
     * @param block its number
     * @param found the CRC-32C of its bytes
     * @throws MalformedStoreException if its checksum is another; names the file and the block's first byte
     */
    public void check(long block, int found) {
        if (found != crc(block)) {
            throw new MalformedStoreException(file, block * blockBytes, "a block whose CRC-32C is " + hex(found),
                    hex(crc(block)) + ", as " + locationFor(file).name() + " says");
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof BlockChecksums that && file.equals(that.file) && blockBytes == that.blockBytes
                && fileBytes == that.fileBytes && Arrays.equals(crcs, that.crcs);
    }

    @Override
    public int hashCode() {
        return Objects.hash(file, blockBytes, fileBytes, Arrays.hashCode(crcs));
    }

    @Override
    public String toString() {
        return locationFor(file) + " (" + crcs.length + " blocks of " + blockBytes + " bytes)";
    }
}
