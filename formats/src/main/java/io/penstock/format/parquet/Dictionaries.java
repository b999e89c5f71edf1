// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.io.publish.DecodedCache;
import io.penstock.io.publish.DecodedSpill;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The dictionaries of the chunks whose pages were decoded last, so that each is decoded once for many pages. Bounded;
 * those in use stay. Thread-safe.
 */
final class Dictionaries implements AutoCloseable {

    /** Reads the dictionary of a chunk into memory; null if it has none. */
    @FunctionalInterface
    interface Reader {

        @Nullable Dictionary read(SegmentAllocator memory) throws IOException;
    }

    /** Dictionaries side by side in large pages, which a small one alone would not get; free when all are. */
    private static final class Slab {

        private static final long BYTES = 8 << 20;

        private final Arena arena = Arena.ofShared();
        private final MemorySegment memory = DecodedCache.largePages(BYTES, arena);
        private long used;
        private int users;
    }

    /** The memory of a dictionary: entries, and where each begins. */
    private static final class Memory implements SegmentAllocator {

        private final Dictionaries of;
        private final List<Slab> slabs = new ArrayList<>(2);
        private final List<NativeBuffer> large = new ArrayList<>(0);

        Memory(Dictionaries of) {
            this.of = of;
        }

        @Override
        public MemorySegment allocate(long bytes, long alignment) {
            MemorySegment part = bytes > Slab.BYTES / 4 ? null : of.take(bytes, slabs);
            if (part == null) {
                NativeBuffer buffer = new NativeBuffer();
                large.add(buffer);
                buffer.reserve(Math.max(1, bytes));
                part = buffer.segment().asSlice(0, bytes);
            }
            return part;
        }
    }

    /** A dictionary that is in use until it is closed. */
    static final class Lease implements AutoCloseable {

        private final Dictionaries of;
        private final Memory memory;
        private final @Nullable Dictionary dictionary;
        private final long bytes;
        /** Guarded by the dictionaries. */
        private int users;
        private boolean isForgotten;

        private Lease(Dictionaries of, Memory memory, @Nullable Dictionary dictionary) {
            this.of = of;
            this.memory = memory;
            this.dictionary = dictionary;
            this.bytes = dictionary == null ? 0 : dictionary.entries().byteSize() + dictionary.starts().byteSize();
        }

        @Nullable Dictionary dictionary() {
            return dictionary;
        }

        @Override
        public void close() {
            of.release(this);
        }
    }

    private final long mostBytes;
    private final Map<Integer, Lease> leases = new LinkedHashMap<>(16, 0.75f, true);
    /** The slabs that have room, and all of them; guarded by this. */
    private final List<Slab> free = new ArrayList<>();
    private final List<Slab> slabs = new ArrayList<>();
    private long bytes;
    private boolean closed;

    Dictionaries(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** Returns the dictionary of a chunk, to be closed by the caller; two threads may both read one. */
    Lease of(int chunk, Reader reader) throws IOException {
        synchronized (this) {
            Lease found = leases.get(chunk);
            if (found != null) {
                found.users++;
                return found;
            }
        }
        Memory memory = new Memory(this);
        Lease read;
        try {
            read = new Lease(this, memory, reader.read(memory));
        } catch (Throwable t) {
            release(memory);
            throw t;
        }
        List<Lease> freed = new ArrayList<>();
        synchronized (this) {
            read.users = 1;
            if (closed) {
                read.isForgotten = true;
                return read;
            }
            Lease before = leases.put(chunk, read);
            bytes += read.bytes;
            if (before != null) {
                forget(before, freed);
            }
            var oldest = leases.values().iterator();
            while (bytes > mostBytes && leases.size() > 1 && oldest.hasNext()) {
                Lease lease = oldest.next();
                if (lease != read) {
                    oldest.remove();
                    forget(lease, freed);
                }
            }
        }
        freed.forEach(lease -> release(lease.memory));
        return read;
    }

    private void forget(Lease lease, List<Lease> freed) {
        bytes -= lease.bytes;
        lease.isForgotten = true;
        if (lease.users == 0) {
            freed.add(lease);
        }
    }

    private void release(Lease lease) {
        boolean isFreed;
        synchronized (this) {
            lease.users--;
            isFreed = lease.users == 0 && lease.isForgotten;
        }
        if (isFreed) {
            release(lease.memory);
        }
    }

    /** Takes memory of a slab, which then is among those to release; null if there are so many slabs already. */
    private synchronized @Nullable MemorySegment take(long bytes, List<Slab> into) {
        long aligned = DecodedSpill.aligned(Math.max(1, bytes));
        while (!free.isEmpty() && free.getLast().used + aligned > Slab.BYTES) {
            free.removeLast();
        }
        if (free.isEmpty()) {
            if (closed || (slabs.size() - 1) * Slab.BYTES > 2 * mostBytes) {
                return null;
            }
            Slab made = new Slab();
            slabs.add(made);
            free.add(made);
        }
        Slab slab = free.getLast();
        long at = slab.used;
        slab.used += aligned;
        slab.users++;
        into.add(slab);
        return slab.memory.asSlice(at, bytes);
    }

    private synchronized void release(Memory memory) {
        memory.large.forEach(NativeBuffer::close);
        for (Slab slab : memory.slabs) {
            if (--slab.users == 0) {
                slab.used = 0;
                free.remove(slab);
                free.addFirst(slab);
            }
        }
        memory.slabs.clear();
        freeUnused();
    }

    private void freeUnused() {
        if (closed) {
            slabs.removeIf(slab -> {
                if (slab.users == 0) {
                    slab.arena.close();
                }
                return slab.users == 0;
            });
        }
    }

    /** Frees those that nobody uses; the others when they are not used any more. */
    @Override
    public void close() {
        List<Lease> freed = new ArrayList<>();
        synchronized (this) {
            closed = true;
            leases.values().forEach(lease -> forget(lease, freed));
            leases.clear();
            freeUnused();
        }
        freed.forEach(lease -> release(lease.memory));
    }
}
