// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.error.MalformedStoreException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The blocks of one object that are in the cache: a file that all processes map and change. All numbers are of 8 bytes,
 * in the machine's order; each is written by one store, so that none is ever half written.
 *
 * <pre>{@code
 *  0 "PNSTKBLK" | 8 block bytes | 16 object bytes | 24 drops | zeros up to 64
 * 64 blocks: N times 16 bytes: 1 << 32 | CRC-32C, or 0 if absent; then the time of the last use, in milliseconds
 * }</pre>
 *
 * <p><b>Protocol.</b> Who fetches a block writes its bytes, then its entry. Who drops one sets the entry to 0, then
 * counts the drop, then removes the bytes. Both hold the block's lock. So whoever reads {@code drops}, finds the entry
 * set, reads the bytes, and reads {@code drops} again unchanged, has read the block's bytes.
 */
final class BlockTable implements AutoCloseable {

    /** The name of the file in the object's folder. */
    static final String NAME = "blocks";

    private static final long MAGIC = 0x4B4C424B54534E50L;
    private static final long BLOCK_BYTES_AT = 8;
    private static final long OBJECT_BYTES_AT = 16;
    private static final long DROPS_AT = 24;
    private static final int HEADER_BYTES = 64;
    private static final int ENTRY_BYTES = 16;
    private static final long PRESENT = 1L << 32;
    private static final VarHandle LONG = JAVA_LONG.withOrder(ByteOrder.nativeOrder()).varHandle();

    private final Arena arena;
    private final MemorySegment table;
    private final int blocks;
    private final int blockShift;
    private final long objectBytes;

    private BlockTable(Arena arena, MemorySegment table) {
        this.arena = arena;
        this.table = table;
        this.blockShift = Long.numberOfTrailingZeros(get(BLOCK_BYTES_AT));
        this.objectBytes = get(OBJECT_BYTES_AT);
        this.blocks = blocks(objectBytes, 1L << blockShift);
    }

    private static int blocks(long objectBytes, long blockBytes) {
        return Math.toIntExact(Math.ceilDiv(objectBytes, blockBytes));
    }

    /** Writes the table of an object of which no block is there. Writes every byte: a full disk fails here. */
    static void create(Path file, long objectBytes, int blockBytes) throws IOException {
        ByteBuffer empty = ByteBuffer.allocate(HEADER_BYTES + blocks(objectBytes, blockBytes) * ENTRY_BYTES)
                .order(ByteOrder.nativeOrder());
        empty.putLong(0, MAGIC).putLong((int) BLOCK_BYTES_AT, blockBytes).putLong((int) OBJECT_BYTES_AT, objectBytes);
        Files.write(file, empty.array(), StandardOpenOption.CREATE_NEW);
    }

    /** Maps a table to change it; throws {@link MalformedStoreException} if the file is no table. */
    static BlockTable open(Path file) throws IOException {
        return map(file, FileChannel.MapMode.READ_WRITE, Arena.ofShared(), StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    /** Maps a table to read it, for one thread; throws {@link MalformedStoreException} if the file is no table. */
    static BlockTable read(Path file) throws IOException {
        return map(file, FileChannel.MapMode.READ_ONLY, Arena.ofConfined(), StandardOpenOption.READ);
    }

    private static BlockTable map(Path file, FileChannel.MapMode mode, Arena arena, StandardOpenOption... options)
            throws IOException {
        try (FileChannel channel = FileChannel.open(file, options)) {
            MemorySegment table = channel.map(mode, 0, channel.size(), arena);
            long size = table.byteSize();
            if (size >= HEADER_BYTES) {
                long blockBytes = table.get(ValueLayout.JAVA_LONG, BLOCK_BYTES_AT);
                long objectBytes = table.get(ValueLayout.JAVA_LONG, OBJECT_BYTES_AT);
                if (table.get(ValueLayout.JAVA_LONG, 0) == MAGIC && Long.bitCount(blockBytes) == 1 && objectBytes >= 0
                        && size == HEADER_BYTES + Math.ceilDiv(objectBytes, blockBytes) * ENTRY_BYTES) {
                    return new BlockTable(arena, table);
                }
            }
            throw new MalformedStoreException(file, "no table of blocks of " + size + " bytes", "one (remove its"
                    + " folder)");
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private long get(long at) {
        return (long) LONG.getAcquire(table, at);
    }

    private static long entryAt(int block) {
        return HEADER_BYTES + (long) block * ENTRY_BYTES;
    }

    int blocks() {
        return blocks;
    }

    int blockOf(long offset) {
        return (int) (offset >>> blockShift);
    }

    long start(int block) {
        return (long) block << blockShift;
    }

    long length(int block) {
        return Math.min(1L << blockShift, objectBytes - start(block));
    }

    boolean isPresent(int block) {
        return get(entryAt(block)) != 0;
    }

    /** The CRC-32C of a block that is present. */
    int crc(int block) {
        return (int) get(entryAt(block));
    }

    /** The number of drops so far. */
    long drops() {
        return get(DROPS_AT);
    }

    /** Says that a block's bytes are there; the caller holds its lock. */
    void publish(int block, int crc) {
        use(block);
        LONG.setRelease(table, entryAt(block), PRESENT | crc & 0xFFFF_FFFFL);
    }

    /** Says that a block is absent, before the caller, who holds its lock, removes or replaces its bytes. */
    void drop(int block) {
        LONG.setRelease(table, entryAt(block), 0L);
        LONG.getAndAdd(table, DROPS_AT, 1L);
    }

    /** Sets the time of a block's last use to now. */
    void use(int block) {
        LONG.setRelease(table, entryAt(block) + Long.BYTES, System.currentTimeMillis());
    }

    long lastUse(int block) {
        return get(entryAt(block) + Long.BYTES);
    }

    long presentBytes() {
        long bytes = 0;
        for (int block = 0; block < blocks; block++) {
            bytes += isPresent(block) ? length(block) : 0;
        }
        return bytes;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
