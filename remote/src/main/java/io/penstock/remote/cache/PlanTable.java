// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.os.SharedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/**
 * When a plan reads which blocks, in a file that its process maps and writes, and others map and read. All numbers are
 * of 8 bytes, in the machine's order; each is written by one store.
 *
 * <pre>{@code
 *  0 the first step that may still be read | 8 bytes that are used, these 64 among them | zeros up to 64
 * 64 objects, each: 16 bytes key | 8 blocks | blocks times 4 stretches of steps: first << 32 | last, + 1 each
 * }</pre>
 *
 * <p>A block has two stretches for each of two epochs, the even and the odd one: from its first read to its last, less
 * the longest time between two reads. So a block that two shards share is not taken for one that is read all the time.
 */
final class PlanTable implements AutoCloseable {

    /** The number of steps that stands for: never read. */
    static final long NEVER = Long.MAX_VALUE;

    private static final long REACHED_AT = 0;
    private static final long USED_AT = 8;
    private static final long HEADER_BYTES = 64;
    private static final long OBJECT_BYTES = 24;
    private static final long EPOCH_BYTES = 16;
    private static final long BLOCK_BYTES = 2 * EPOCH_BYTES;
    private static final long FIRST_SIZE = 1 << 16;
    private static final VarHandle LONG = JAVA_LONG.withOrder(ByteOrder.nativeOrder()).varHandle();

    /** A version of an object, as the table names it. */
    record Key(long name, long version) {

        private static final int DIGITS = 16;

        /** The key of an object's folder. */
        static Key of(Path folder) {
            return new Key(part(Objects.requireNonNull(folder.getParent())), part(folder));
        }

        private static long part(Path folder) {
            return Long.parseUnsignedLong(folder.getFileName().toString().substring(0, DIGITS), DIGITS);
        }
    }

    private final Path path;
    /** Locked by the process that writes the table, while it lives. */
    private final SharedFile lock;
    private final FileChannel file;
    private final FileChannel.MapMode mode;
    private final Map<Key, Long> places = new HashMap<>();
    private Arena arena;
    private MemorySegment table;

    private PlanTable(Path path, SharedFile lock, FileChannel.MapMode mode, StandardOpenOption... options)
            throws IOException {
        this.path = path;
        this.lock = lock;
        this.mode = mode;
        this.file = FileChannel.open(path, options);
        this.arena = newArena();
        try {
            if (isWritten()) {
                grow(FIRST_SIZE);
            }
            this.table = file.map(mode, 0, file.size(), arena);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Writes zeros: a mapping of a file without its blocks would fail when it is written, on a disk that is full. */
    private void grow(long bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocate((int) FIRST_SIZE);
        try {
            for (long at = file.size(); at < bytes;) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - at));
                at += file.write(zeros, at);
            }
        } catch (IOException e) {
            throw new IOException(path + ": cannot grow to " + bytes + " bytes: " + e.getMessage(), e);
        }
    }

    private boolean isWritten() {
        return mode == FileChannel.MapMode.READ_WRITE;
    }

    /** What is read is read by one thread; what is written may be closed by another one. */
    private Arena newArena() {
        return isWritten() ? Arena.ofShared() : Arena.ofConfined();
    }

    static PlanTable create(Path folder) throws IOException {
        Files.createDirectories(folder);
        while (true) {
            Path path = folder.resolve(Long.toHexString(ThreadLocalRandom.current().nextLong()));
            try {
                Files.createFile(path);
                SharedFile lock = SharedFile.open(path);
                if (lock.tryExclusive(0) && lock.isCurrent()) {
                    return created(path, lock);
                }
                lock.close();
            } catch (FileAlreadyExistsException | NoSuchFileException _) {
                // another process took it for one that a dead process left
            }
        }
    }

    private static PlanTable created(Path path, SharedFile lock) throws IOException {
        try {
            PlanTable table = new PlanTable(path, lock, FileChannel.MapMode.READ_WRITE, StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            table.set(USED_AT, HEADER_BYTES);
            return table;
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(path);
            lock.close();
            throw e;
        }
    }

    /** Reads the tables of living processes; removes the others. */
    static List<PlanTable> live(Path folder) throws IOException {
        List<PlanTable> live = new ArrayList<>();
        List<Path> all;
        try (Stream<Path> files = Files.list(folder)) {
            all = files.toList();
        } catch (NoSuchFileException _) {
            return live;
        }
        for (Path path : all) {
            try (SharedFile lock = SharedFile.open(path)) {
                if (!lock.tryExclusive(0)) {
                    PlanTable table = new PlanTable(path, lock, FileChannel.MapMode.READ_ONLY, StandardOpenOption.READ);
                    table.findPlaces();
                    live.add(table);
                } else if (lock.isCurrent()) {
                    Files.deleteIfExists(path);
                }
            } catch (NoSuchFileException _) {
                // ended meanwhile
            } catch (IOException | RuntimeException e) {
                closeAll(live);
                throw e;
            }
        }
        return live;
    }

    static void closeAll(List<PlanTable> tables) throws IOException {
        for (PlanTable table : tables) {
            table.close();
        }
    }

    /** Finds the objects that the mapping has whole: the file may have grown since it was mapped. */
    private void findPlaces() {
        long used = table.byteSize() < HEADER_BYTES ? 0 : Math.min(get(USED_AT), table.byteSize());
        for (long at = HEADER_BYTES; at + OBJECT_BYTES <= used;) {
            long end = at + OBJECT_BYTES + BLOCK_BYTES * get(at + 16);
            if (end <= used) {
                places.put(new Key(get(at), get(at + 8)), at + OBJECT_BYTES);
            }
            at = end;
        }
    }

    private void remap(long bytes) throws IOException {
        Arena old = arena;
        grow(bytes);
        Arena larger = newArena();
        table = file.map(mode, 0, bytes, larger);
        arena = larger;
        old.close();
    }

    private long get(long at) {
        return (long) LONG.getAcquire(table, at);
    }

    private void set(long at, long value) {
        LONG.setRelease(table, at, value);
    }

    /** Returns where an object's blocks are; adds the object if it is new. */
    long place(Key key, int blocks) throws IOException {
        Long known = places.get(key);
        if (known != null) {
            return known;
        }
        long at = get(USED_AT);
        long end = at + OBJECT_BYTES + BLOCK_BYTES * blocks;
        if (end > table.byteSize()) {
            remap(Math.max(end, 2 * table.byteSize()));
        }
        set(at, key.name);
        set(at + 8, key.version);
        set(at + 16, blocks);
        set(USED_AT, end);
        places.put(key, at + OBJECT_BYTES);
        return at + OBJECT_BYTES;
    }

    private static long at(long place, int block, int parity) {
        return place + BLOCK_BYTES * block + EPOCH_BYTES * parity;
    }

    private static long stretch(long first, long last) {
        return first << Integer.SIZE | last;
    }

    private static long first(long stretch) {
        return stretch >>> Integer.SIZE;
    }

    private static int last(long stretch) {
        return (int) stretch;
    }

    /** Adds a read of a block, in an epoch that begins with a step. */
    void add(long place, int block, int parity, int epochStart, int step) {
        long at = at(place, block, parity);
        long early = get(at);
        long late = get(at + 8);
        long now = step + 1L;
        if (last(early) <= epochStart) {
            set(at + 8, 0);
            set(at, stretch(now, now));
        } else if (late == 0) {
            if (last(early) != now) {
                set(at + 8, stretch(now, now));
            }
        } else if (last(late) != now) {
            boolean isLongest = now - last(late) > first(late) - last(early);
            if (isLongest) {
                set(at, stretch(first(early), last(late)));
            }
            set(at + 8, stretch(isLongest ? now : first(late), now));
        }
    }

    /**
     * Adds a block's bytes to the changes of what is being read.
     *
     * @param gap steps without a read that count as reading
     */
    void addReading(long place, int block, int parity, long gap, long bytes, long[] change) {
        long early = get(at(place, block, parity));
        long late = get(at(place, block, parity) + 8);
        if (early != 0) {
            change[(int) first(early) - 1] += bytes;
            change[late == 0 ? last(early) : last(late)] -= bytes;
            if (late != 0 && first(late) - last(early) > gap) {
                change[last(early)] -= bytes;
                change[(int) first(late) - 1] += bytes;
            }
        }
    }

    /** Returns after how many steps a block is read; 0 within one of its stretches. */
    long stepsUntil(Key key, int block) {
        Long place = places.get(key);
        long least = NEVER;
        if (place != null) {
            long reached = get(REACHED_AT);
            for (int i = 0; i < BLOCK_BYTES; i += 8) {
                long stretch = get(place + BLOCK_BYTES * block + i);
                if (last(stretch) > reached) {
                    least = Math.min(least, Math.max(0, first(stretch) - 1 - reached));
                }
            }
        }
        return least;
    }

    long reached() {
        return get(REACHED_AT);
    }

    void reached(long step) {
        set(REACHED_AT, step);
    }

    /** Forgets all reads. */
    void clear() {
        for (long at = HEADER_BYTES; at < get(USED_AT);) {
            long bytes = BLOCK_BYTES * get(at + 16);
            table.asSlice(at + OBJECT_BYTES, bytes).fill((byte) 0);
            at += OBJECT_BYTES + bytes;
        }
        reached(0);
    }

    /** Ends the plan, if it is this process's. */
    @Override
    public void close() throws IOException {
        arena.close();
        file.close();
        if (isWritten()) {
            Files.deleteIfExists(path);
            lock.close();
        }
    }
}
