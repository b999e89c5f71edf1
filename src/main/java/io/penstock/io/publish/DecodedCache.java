// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.io.FetchAhead;
import io.penstock.io.FetchWaits;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.RangeFetcher;
import io.penstock.os.Posix;
import io.penstock.text.ByteText;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The decoded blocks of a store in bounded memory. A block gets an address when it is first decoded, and keeps it: to
 * make room, its memory is freed, and a later read decodes it again to the same place. So spans stay valid, and the
 * readers of spans need not know: to them a dropped block is like the dropped bytes of a remote file.
 *
 * <p><b>What is dropped.</b> Blocks of which no read is planned, the least recently used first; then the one whose next
 * planned read is last. {@link DecodeAhead} plans them from a loader's order and decodes them before they are read.
 *
 * <p><b>Disk.</b> A block that would be decoded again and again, for few reads each time, is written to an unnamed file
 * when it is dropped, and its pages are mapped from there: reads at random over more rows than fit in memory cost disk
 * space instead of time. The same happens to blocks that are read through {@link io.penstock.io.Span#slice}, which must
 * stay while the store is open, if they are more than half of what may be in memory.
 *
 * <p><b>Threads.</b> Any number read, plan and decode at once; one thread decodes a block, and others wait for it.
 * A reader notes a block's version, reads, and looks whether it is the same: then no byte was dropped meanwhile. A
 * version is odd while the block is there.
 */
public final class DecodedCache implements AutoCloseable {

    /** The system property for the bytes of a store in memory. */
    public static final String BYTES_PROPERTY = "penstock.decoded.bytes";

    /** The system property for what is on disk: {@code auto}, {@code never}, or {@code always}, which is all. */
    public static final String SPILL_PROPERTY = "penstock.decoded.spill";

    /** When blocks are written to disk instead of being dropped. */
    public enum Spilling { NEVER, AUTO }

    /** What a block's decoder calls once, with the decoded bytes. */
    @FunctionalInterface
    public interface Into {

        /**
         * Copies runs of bytes to the block's place, each aligned as in {@link DecodedSpill#append}. Returns the place,
         * which is the same each time.
         */
        DecodedSpill.Place write(MemorySegment... runs) throws IOException;
    }

    /** Decodes one block. */
    public interface Decoder {

        /** Decodes; every call must give the same bytes. Others read the block when this has returned. */
        void decode(Into into) throws IOException;

        /** Returns how many bytes it decodes to, about. */
        long estimatedBytes();

        /** Returns how many values it has. */
        long values();

        /**
         * Is told that the decoded bytes are there, and before they are dropped. Must not use the cache, whose lock is
         * held: so calls for one block never overlap. Whoever reads {@link DecodedCache#drops} before, and finds it
         * unchanged after, was not told of a drop meanwhile.
         */
        default void placed(boolean isThere) {
        }
    }

    /** The address space of the first region; each is twice as large as the one before, up to a maximum. */
    private static final long FIRST_REGION_BYTES = 1L << 30;
    private static final long LAST_REGION_BYTES = 1L << 35;
    private static final long LARGE_BYTES = 2L << 20;
    private static final int GRANULE_SHIFT = 16;
    private static final int MOST_BLOCKS = 1 << 26;
    private static final int PLAN_SHIFT = 12;
    private static final int WRITE_BYTES = 1 << 20;
    /** A block is read at random if fewer than one in so many of its values are read before it is dropped. */
    private static final int SPARSE = 8;
    /** To sort the blocks seldom, more room is made than is needed: this part of the limit. */
    private static final int MORE_ROOM = 16;

    /** The block to drop first is last. */
    private static final Comparator<Block> DROPPED_LAST = Comparator.<Block>comparingLong(block -> block.sortedStep)
            .thenComparing(block -> block.sortedUse, Comparator.reverseOrder());

    private static final System.Logger LOG = System.getLogger(DecodedCache.class.getName());

    /** A block of decoded bytes. */
    public final class Block {

        final int id;
        final Decoder decoder;
        /** Set once, before the version is first odd. */
        private @Nullable Region region;
        private long offset;
        private long bytes;
        /** The next block in the region. Guarded by the cache; read by those who see the region's table. */
        private volatile @Nullable Block next;
        private volatile int version;
        /** The cache's clock at the latest use; the uses since it was decoded, up to what matters; races lose some. */
        private long usedAt;
        private int uses;
        private int mostUses;
        private int decodes;
        /** The next and the last planned read, of which the thread of the plan is the only writer. */
        volatile long nextStep = -1;
        volatile long lastStep = -1;
        /** Whether it stays. Guarded by the cache. */
        private boolean stays;
        /** Whether bytes were written that nobody may read yet. Guarded by the cache. */
        private boolean isWritten;
        /** The next planned read and the latest use when blocks were last sorted by them. Guarded by the cache. */
        private long sortedStep;
        private long sortedUse;

        private Block(int id, Decoder decoder) {
            this.id = id;
            this.decoder = decoder;
        }

        /**
         * Decodes the block if it is not there; returns its version, for {@link #isStill} after reading.
         *
         * @throws UncheckedIOException if it cannot be decoded; later calls fail too
         */
        public int use() {
            int found = version;
            // Another thread may drop it as soon as it is decoded.
            while ((found & 1) == 0) {
                found = decode(this);
            }
            countUses(1);
            return found;
        }

        /** Counts further uses of a block that is there; of many uses, some may stand for all. */
        public void countUses(int more) {
            if (usedAt != clock) {
                usedAt = clock;
            }
            if (uses < mostUses) {
                uses += more;
            }
        }

        /** Tells the decoder again that the block is there, if it is. */
        public void tell() {
            synchronized (DecodedCache.this) {
                if (isThere()) {
                    decoder.placed(true);
                }
            }
        }

        /** Tells whether the block was there all the time since {@link #use} returned a version. */
        public boolean isStill(int since) {
            VarHandle.acquireFence();
            return version == since;
        }

        boolean isThere() {
            return (version & 1) == 1;
        }

        long estimatedBytes() {
            return bytes > 0 ? bytes : decoder.estimatedBytes();
        }
    }

    /** A reserved range of addresses. */
    private final class Region implements RangeFetcher {

        private final MemorySegment memory;
        private final MappedFile file;
        /** For each granule, the block at its start, or the first one after; null behind the last. */
        private final AtomicReferenceArray<@Nullable Block> blocks;
        private long used;
        /** Behind the last large page. */
        private long largeEnd;
        private @Nullable Block last;

        Region(long bytes) {
            Arena arena = Arena.ofShared();
            memory = reinterpreted(Posix.mapPages(bytes).address(), bytes, arena);
            blocks = new AtomicReferenceArray<>((int) (bytes >>> GRANULE_SHIFT));
            file = MappedFile.ofMemory(location, arena, memory.asReadOnly(), this);
        }

        /** Gives a block its place. Guarded by the cache. */
        void add(Block block, long bytes) {
            boolean isLarge = bytes >= LARGE_BYTES;
            long at = isLarge ? aligned(used, LARGE_BYTES) : used;
            block.region = this;
            block.offset = at;
            block.bytes = bytes;
            populate(at + bytes);
            int first = (int) (used >>> GRANULE_SHIFT);
            int end = (int) (at + bytes - 1 >>> GRANULE_SHIFT);
            if (last != null) {
                last.next = block;
            }
            last = block;
            used = at + bytes;
            for (int granule = first; granule <= end; granule++) {
                if (blocks.getPlain(granule) == null) {
                    blocks.setRelease(granule, block);
                }
            }
        }

        /** Gives large pages to the addresses up to an end, but for the first ones: a small store needs few pages. */
        private void populate(long end) {
            if (largeEnd == 0) {
                largeEnd = aligned(memory.address() + LARGE_BYTES, LARGE_BYTES) - memory.address();
            }
            for (; largeEnd < end && largeEnd + LARGE_BYTES <= memory.byteSize(); largeEnd += LARGE_BYTES) {
                Posix.populateLarge(memory.asSlice(largeEnd, LARGE_BYTES));
            }
        }

        long room(long bytes) {
            return memory.byteSize() - aligned(used, bytes >= LARGE_BYTES ? LARGE_BYTES : 1) - bytes;
        }

        private Block blockOf(long offset) {
            Block found = blocks.getAcquire((int) (offset >>> GRANULE_SHIFT));
            while (found != null && found.offset + found.bytes <= offset) {
                found = found.next;
            }
            if (found == null || offset < found.offset) {
                throw new IndexOutOfBoundsException(location + ": no decoded block at " + offset);
            }
            return found;
        }

        @Override
        public boolean isPresent(long offset, long bytes) {
            return bytes <= 0 || bytes <= memory.byteSize() - offset && isOneBlock(offset, bytes)
                    && blockOf(offset).isThere();
        }

        private boolean isOneBlock(long offset, long bytes) {
            Block block = blockOf(offset);
            return offset + bytes <= block.offset + block.bytes;
        }

        @Override
        public void fetch(long offset, long bytes, FetchWaits waits) {
            if (bytes > 0) {
                Block block = blockOf(offset);
                if (!block.isThere()) {
                    int _ = decode(block);
                }
            }
        }

        @Override
        public void keep(long offset, long bytes) {
            if (bytes > 0) {
                for (Block at = blockOf(offset); at != null && at.offset < offset + bytes; at = at.next) {
                    stay(at);
                }
            }
        }

        @Override
        public long drops() {
            return drops;
        }

        /** Nothing: it is decoded when it is read, or ahead by a plan. */
        @Override
        public void prefetch(long offset, long bytes) {
        }

        @Override
        public void close() {
        }
    }

    /** The fetcher of {@link #planFile}. */
    private final class Plan implements RangeFetcher {

        @Override
        public boolean isPresent(long offset, long bytes) {
            return true;
        }

        @Override
        public void fetch(long offset, long bytes, FetchWaits waits) {
            throw new UnsupportedOperationException(location + ": a span for plans is not read");
        }

        @Override
        public void prefetch(long offset, long bytes) {
        }

        @Override
        public Optional<FetchAhead> fetchAhead(FetchAhead.Epoch epoch) {
            return DecodeAhead.open(DecodedCache.this, epoch);
        }

        @Override
        public void close() {
        }
    }

    private final Object store;
    private final Location location;
    private final long maxBytes;
    private final MappedFile planFile;
    private final List<Block> blocks = new ArrayList<>();
    private final List<Region> regions = new ArrayList<>();
    /** The blocks in memory that may be dropped. */
    private final List<Block> droppable = new ArrayList<>();
    private Spilling spilling;
    private @Nullable Disk disk;
    private long residentBytes;
    private long stayingBytes;
    private long decodedBytes;
    private boolean closed;
    private volatile long drops;
    private volatile long clock;
    /** Planned reads before this step are over. */
    private volatile long reached = Long.MAX_VALUE;
    private boolean isPlanned;

    /**
     * Creates an empty cache, which takes no memory.
     *
     * @param store named in messages
     * @param location what is decoded
     * @param maxBytes the most bytes in memory; a single block may be larger
     */
    public DecodedCache(Object store, Location location, long maxBytes, Spilling spilling) {
        this.store = store;
        this.location = location;
        this.maxBytes = maxBytes;
        this.spilling = spilling;
        Arena arena = Arena.ofShared();
        this.planFile = MappedFile.ofMemory(location, arena,
                reinterpreted(Posix.pageBytes(), (long) MOST_BLOCKS << PLAN_SHIFT, null), new Plan());
    }

    /** Tells whether decoded rows are to be in memory, and this OS can do that. */
    public static boolean isWanted() {
        return Posix.AVAILABLE && !System.getProperty(SPILL_PROPERTY, "auto").equals("always");
    }

    /** Creates a cache as the system properties say. */
    public static DecodedCache configured(Location location) {
        String spill = System.getProperty(SPILL_PROPERTY, "auto");
        if (!spill.equals("auto") && !spill.equals("never")) {
            throw new IllegalArgumentException("-D" + SPILL_PROPERTY + "=" + spill
                    + ": expected auto, never or always");
        }
        return new DecodedCache(location, location, ByteText.read(System.getProperty(BYTES_PROPERTY, "256M")),
                spill.equals("never") ? Spilling.NEVER : Spilling.AUTO);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment reinterpreted(long address, long bytes, @Nullable Arena unmappedBy) {
        MemorySegment at = MemorySegment.ofAddress(address);
        return unmappedBy == null ? at.reinterpret(bytes)
                : at.reinterpret(bytes, unmappedBy, _ -> Posix.unmapPages(address, bytes));
    }

    /**
     * Maps memory in large pages, if the OS has some: the first write to a small page costs more than to decode it.
     *
     * @param bytes a multiple of 2 MiB
     * @param arena its close frees the memory
     */
    public static MemorySegment largePages(long bytes, Arena arena) {
        long start = Posix.mapPages(bytes + LARGE_BYTES).address();
        long first = aligned(start, LARGE_BYTES);
        MemorySegment all = reinterpreted(start, bytes + LARGE_BYTES, arena);
        for (long at = first - start; at < first - start + bytes; at += LARGE_BYTES) {
            Posix.populateLarge(all.asSlice(at, LARGE_BYTES));
        }
        return all.asSlice(first - start, bytes);
    }

    private static long aligned(long bytes, long to) {
        return (bytes + to - 1) / to * to;
    }

    /** Adds a block, which is decoded when it is first used. */
    public Block add(Decoder decoder) {
        synchronized (blocks) {
            if (blocks.size() == MOST_BLOCKS) {
                throw new IllegalStateException(store + ": more than " + MOST_BLOCKS + " decoded blocks");
            }
            Block block = new Block(blocks.size(), decoder);
            blocks.add(block);
            return block;
        }
    }

    /** The file whose bytes stand for blocks in plans: see {@link #planOffset}. Its bytes are never read. */
    public MappedFile planFile() {
        return planFile;
    }

    /** Returns the byte of {@link #planFile} that stands for a block. */
    public long planOffset(Block block) {
        return (long) block.id << PLAN_SHIFT;
    }

    @Nullable Block planned(MappedFile file, long offset) {
        if (file != planFile) {
            return null;
        }
        synchronized (blocks) {
            return blocks.get((int) (offset >>> PLAN_SHIFT));
        }
    }

    /** Returns a number that has changed before a block is dropped: what was read before is whole if it is the same. */
    public long drops() {
        VarHandle.acquireFence();
        return drops;
    }

    /** Returns the most bytes in memory. */
    public long maxBytes() {
        return maxBytes;
    }

    /** Returns how many bytes are in memory. */
    public synchronized long residentBytes() {
        return residentBytes;
    }

    /** Returns how many bytes were decoded so far, those that were decoded again too. */
    public synchronized long decodedBytes() {
        return decodedBytes;
    }

    /** Returns how many bytes are on disk. */
    public synchronized long diskBytes() {
        return disk == null ? 0 : disk.used;
    }

    /** Begins a plan; false if there is one already. */
    synchronized boolean beginPlan() {
        boolean isFirst = !isPlanned;
        isPlanned = true;
        return isFirst;
    }

    /** Planned reads of steps before this one are over. */
    void reached(long step) {
        reached = step;
    }

    synchronized void endPlan() {
        isPlanned = false;
        reached = Long.MAX_VALUE;
    }

    /** Decodes a block if it is not there; returns its version then, which is even if it was dropped again. */
    int decode(Block block) {
        synchronized (block) {
            if (!block.isThere()) {
                boolean done = false;
                try {
                    block.decoder.decode(runs -> write(block, runs));
                    done = true;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (OutOfMemoryError e) {
                    throw new UncheckedIOException(new IOException(location + ": no memory for the rows that are"
                            + " decoded together", e));
                } finally {
                    publish(block, done);
                }
            }
            return block.version;
        }
    }

    /** Writes a block's bytes to its place. The caller holds the block's monitor. */
    private DecodedSpill.Place write(Block block, MemorySegment... runs) throws IOException {
        long bytes = 0;
        for (MemorySegment run : runs) {
            bytes += DecodedSpill.aligned(run.byteSize());
        }
        Region region = place(block, aligned(Math.max(1, bytes), Posix.pageBytes()));
        long at = block.offset;
        for (MemorySegment run : runs) {
            MemorySegment.copy(run, 0, region.memory, at, run.byteSize());
            at += DecodedSpill.aligned(run.byteSize());
        }
        return new DecodedSpill.Place(region.file, block.offset);
    }

    /** Makes a written block one that others read; frees it if it was not decoded to its end. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    private synchronized void publish(Block block, boolean isDone) {
        if (!block.isWritten) {
            return;
        }
        block.isWritten = false;
        if (!isDone) {
            residentBytes -= block.bytes;
            boolean _ = closed || Posix.dropPages(memoryOf(block));
            return;
        }
        block.usedAt = clock;
        block.uses = 0;
        block.mostUses = (int) Math.min(Integer.MAX_VALUE, block.decoder.values() / SPARSE + 1);
        block.decodes++;
        decodedBytes += block.bytes;
        if (block.stays) {
            stayingBytes += block.bytes;
        } else {
            droppable.add(block);
        }
        block.decoder.placed(true);
        block.version++;
    }

    /** Makes room for a block, and gives it its place when it is first decoded. */
    private synchronized Region place(Block block, long pageBytes) throws IOException {
        if (closed) {
            throw new IllegalStateException(store + ": closed");
        }
        clock++;
        if (residentBytes + pageBytes > maxBytes) {
            makeRoom(pageBytes);
        }
        Region region = block.region;
        if (region != null && block.bytes != pageBytes) {
            throw new IOException(location + ": rows that decoded to " + pageBytes + " bytes, where they had"
                    + " decoded to " + block.bytes + " before: has the file changed?");
        }
        if (region == null) {
            region = regions.isEmpty() || regions.getLast().room(pageBytes) < 0 ? addRegion(pageBytes)
                    : regions.getLast();
            region.add(block, pageBytes);
        }
        residentBytes += pageBytes;
        block.isWritten = true;
        return region;
    }

    private Region addRegion(long pageBytes) {
        long bytes = Math.min(LAST_REGION_BYTES, FIRST_REGION_BYTES << Math.min(regions.size(), 5));
        Region region = new Region(aligned(Math.max(bytes, pageBytes), LARGE_BYTES));
        regions.add(region);
        return region;
    }

    private void makeRoom(long pageBytes) {
        long goal = Math.max(0, maxBytes - pageBytes - maxBytes / MORE_ROOM);
        long now = reached;
        for (Block block : droppable) {
            block.sortedStep = nextUse(block, now);
            block.sortedUse = block.usedAt;
        }
        droppable.sort(DROPPED_LAST);
        while (residentBytes > goal && !droppable.isEmpty()) {
            drop(droppable.removeLast());
        }
    }

    /** Returns the step of the next planned read; none is last. */
    private static long nextUse(Block block, long reached) {
        return block.lastStep < reached ? Long.MAX_VALUE : block.nextStep >= reached ? block.nextStep : block.lastStep;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // guarded by the cache
    private void drop(Block block) {
        boolean isSparse = spilling == Spilling.AUTO && block.decodes > 1 && block.uses > 0
                && (long) block.uses * SPARSE < block.decoder.values();
        if (isSparse && moveToDisk(block)) {
            return;
        }
        // Before a byte is gone, readers that have it already must find that it is.
        block.decoder.placed(false);
        drops++;
        block.version++;
        VarHandle.fullFence();
        residentBytes -= block.bytes;
        if (!Posix.dropPages(memoryOf(block))) {
            throw new IllegalStateException(store + ": the memory of decoded rows cannot be freed");
        }
    }

    @SuppressWarnings("NullAway") // blocks that were decoded have a region
    private static MemorySegment memoryOf(Block block) {
        return block.region.memory.asSlice(block.offset, block.bytes);
    }

    /** Makes a block stay until the cache is closed. */
    private void stay(Block block) {
        while (true) {
            int _ = decode(block);
            synchronized (this) {
                if (block.stays && block.isThere()) {
                    return;
                }
                if (block.isThere()) {
                    block.stays = true;
                    droppable.remove(block);
                    stayingBytes += block.bytes;
                    makeRoomForStaying(block);
                    return;
                }
            }
        }
    }

    private void makeRoomForStaying(Block block) {
        if (stayingBytes <= maxBytes / 2) {
            return;
        }
        if (spilling == Spilling.AUTO && moveToDisk(block)) {
            stayingBytes -= block.bytes;
        } else if (stayingBytes > maxBytes) {
            throw new UncheckedIOException(new IOException(location + ": " + stayingBytes + " decoded bytes that must"
                    + " stay in memory, as they are read without a loader, expected at most " + maxBytes
                    + " (-Dpenstock.decoded.spill=always keeps them on disk)"));
        }
    }

    /** Replaces a block's memory by pages of the disk's file with the same bytes, for ever; false if that fails. */
    private boolean moveToDisk(Block block) {
        try {
            if (disk == null) {
                disk = new Disk();
            }
            if (disk.take(memoryOf(block))) {
                residentBytes -= block.bytes;
                return true;
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}: decoded rows are not kept on disk: {1}", store, e.getMessage());
        }
        spilling = Spilling.NEVER;
        return false;
    }

    /** Blocks on disk: a file without a name, like an {@link UnnamedFile}, but one that grows and is not mapped. */
    private static final class Disk implements AutoCloseable {

        private final RandomAccessFile writer;
        private final int fd;
        private final byte[] chunk = new byte[WRITE_BYTES];
        private long used;

        Disk() throws IOException {
            Path path = UnnamedFile.createNamed();
            try {
                writer = new RandomAccessFile(path.toFile(), "rw");
                fd = Posix.openReadOnly(path);
            } finally {
                Files.deleteIfExists(path);
            }
        }

        boolean take(MemorySegment pages) throws IOException {
            writer.seek(used);
            for (long at = 0; at < pages.byteSize(); at += WRITE_BYTES) {
                int length = (int) Math.min(WRITE_BYTES, pages.byteSize() - at);
                MemorySegment.copy(pages, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
                writer.write(chunk, 0, length);
            }
            long start = used;
            used += pages.byteSize();
            return Posix.replacePages(pages, fd, start);
        }

        @Override
        public void close() throws IOException {
            writer.close();
            Posix.close(fd);
        }
    }

    /**
     * Frees memory and disk space. Calling it again does nothing.
     *
     * @throws IllegalStateException if an open loader reads it
     */
    @Override
    public synchronized void close() {
        regions.forEach(region -> region.file.close());
        planFile.close();
        if (!closed && disk != null) {
            try {
                disk.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        closed = true;
    }
}
