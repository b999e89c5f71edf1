// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
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

    /** The memory of a dictionary, which another one uses after it: entries, and where each begins. */
    private static final class Memory implements SegmentAllocator, AutoCloseable {

        private final NativeBuffer entries = new NativeBuffer();
        private final NativeBuffer starts = new NativeBuffer();

        @Override
        public MemorySegment allocate(long bytes, long alignment) {
            NativeBuffer part = entries.used() == 0 ? entries : starts;
            part.reserve(Math.max(1, bytes));
            part.advance(Math.max(1, bytes));
            return part.segment().asSlice(0, bytes);
        }

        void empty() {
            entries.truncate(0);
            starts.truncate(0);
        }

        @Override
        public void close() {
            entries.close();
            starts.close();
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
    private final ConcurrentLinkedQueue<Memory> free = new ConcurrentLinkedQueue<>();
    private long bytes;
    private volatile boolean closed;

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
        Memory memory = free.poll();
        if (memory == null) {
            memory = new Memory();
        }
        Lease read;
        try {
            read = new Lease(this, memory, reader.read(memory));
        } catch (Throwable t) {
            memory.close();
            throw t;
        }
        List<Lease> freed = new ArrayList<>();
        synchronized (this) {
            read.users = 1;
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
        freed.forEach(this::reuse);
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
            reuse(lease);
        }
    }

    private void reuse(Lease lease) {
        lease.memory.empty();
        if (closed) {
            lease.memory.close();
        } else {
            free.add(lease.memory);
        }
    }

    /** Frees those that nobody uses; the others when they are not used any more. */
    @Override
    public void close() {
        closed = true;
        List<Lease> freed = new ArrayList<>();
        synchronized (this) {
            leases.values().forEach(lease -> forget(lease, freed));
            leases.clear();
        }
        freed.forEach(this::reuse);
        for (Memory memory = free.poll(); memory != null; memory = free.poll()) {
            memory.close();
        }
    }
}
