// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The decoded copy of a store's compressed blocks, in an {@link UnnamedFile}, which may be larger than memory. The
 * first access to a block decodes it into its place.
 *
 * <p>Thread-safe: the first thread that needs a block decodes it, without blocking other blocks.
 */
public final class DecodedBlocks implements AutoCloseable {

    /** The most that a block may decode to: one decoding keeps it in memory. */
    public static final long MAX_BLOCK_BYTES = 2L << 30;

    private static final int STRIPES = 64;
    private static final int WRITE_BYTES = 1 << 20;

    @FunctionalInterface
    public interface Decoder {

        /**
         * Decodes a block into zeroed native memory of exactly its size. Several threads may call this at once, for
         * different blocks. An error names the file.
         */
        void decode(int block, MemorySegment target) throws IOException;
    }

    /** Decodes a block piece by piece; it may be larger than memory. */
    @FunctionalInterface
    public interface StreamDecoder {

        /**
         * Passes a block's bytes to the output in order. Several threads may call this at once, for different blocks.
         * An error names the file.
         */
        void decode(int block, Output output) throws IOException;
    }

    @FunctionalInterface
    public interface Output {

        void put(byte[] bytes, int offset, int length) throws IOException;
    }

    private final Object store;
    private final UnnamedFile copy;
    private final MappedFile file;
    private final long[] starts;
    private final StreamDecoder decoder;
    private final AtomicIntegerArray done;
    private final Object[] locks = new Object[STRIPES];

    private DecodedBlocks(Object store, UnnamedFile copy, long[] starts, StreamDecoder decoder) {
        this.store = store;
        this.copy = copy;
        this.file = copy.mapped();
        this.starts = starts;
        this.decoder = decoder;
        this.done = new AtomicIntegerArray(starts.length - 1);
        Arrays.setAll(locks, _ -> new Object());
    }

    /**
     * Creates a copy without decoded blocks, each of at most {@link #MAX_BLOCK_BYTES}; takes address space, but no
     * memory or disk space.
     */
    public static DecodedBlocks create(Object store, long[] sizes, Decoder decoder) throws IOException {
        for (long size : sizes) {
            if (size < 0 || size > MAX_BLOCK_BYTES) {
                throw new MalformedStoreException(store, "a compressed block of " + size
                        + " bytes", "at most " + MAX_BLOCK_BYTES);
            }
        }
        return createStreamed(store, sizes, (block, output) -> {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment target = arena.allocate(sizes[block], Long.BYTES);
                decoder.decode(block, target);
                put(target, output);
            }
        });
    }

    /** Creates a copy without decoded blocks, of any sizes: those that the store declares, already checked. */
    public static DecodedBlocks createStreamed(Object store, long[] sizes, StreamDecoder decoder) throws IOException {
        long[] starts = new long[sizes.length + 1];
        for (int i = 0; i < sizes.length; i++) {
            starts[i + 1] = Math.addExact(starts[i], sizes[i]);
        }
        return new DecodedBlocks(store, UnnamedFile.create(store, starts[sizes.length]), starts, decoder);
    }

    public int blocks() {
        return starts.length - 1;
    }

    public long byteSize(int block) {
        return starts[block + 1] - starts[block];
    }

    /**
     * Locates a part of a block, decoding the block if needed.
     *
     * @throws MalformedStoreException if the block is malformed; later calls fail too
     * @throws UncheckedIOException if the copy cannot be written; later calls fail too
     */
    public void locate(int block, long offset, long bytes, Span into) {
        Objects.checkFromIndexSize(offset, bytes, byteSize(block));
        decode(block);
        into.set(file, starts[block] + offset, bytes);
    }

    /**
     * Locates bytes that start in a block and may continue in the following ones, decoding them if needed; fails as
     * {@link #locate}.
     */
    public void locateRun(int block, long offset, long bytes, Span into) {
        Objects.checkIndex(block, blocks());
        long first = starts[block] + offset;
        Objects.checkFromIndexSize(first, bytes, starts[blocks()]);
        for (int next = block; next < blocks() && starts[next] < first + bytes; next++) {
            decode(next);
        }
        into.set(file, first, bytes);
    }

    /**
     * Reads a signed little-endian number of 1, 4 or 8 bytes in a block, decoding the block if needed; fails as {@link
     * #locate}.
     */
    public long number(int block, long offset, int bytes) {
        Objects.checkFromIndexSize(offset, bytes, byteSize(block));
        decode(block);
        long at = starts[block] + offset;
        return switch (bytes) {
            case Byte.BYTES -> file.segment().get(ValueLayout.JAVA_BYTE, at);
            case Integer.BYTES -> file.segment().get(LittleEndian.I32, at);
            default -> file.segment().get(LittleEndian.I64, at);
        };
    }

    /**
     * Returns a view of a block's bytes, valid until {@link #close}; decodes the block if needed, and fails as {@link
     * #locate}.
     */
    public MemorySegment block(int block) {
        decode(block);
        return file.segment().asSlice(starts[block], byteSize(block));
    }

    /**
     * Returns a view of all blocks consecutively, valid until {@link #close}; decodes them if needed, and fails as
     * {@link #locate}.
     */
    public MemorySegment all() {
        for (int block = 0; block < blocks(); block++) {
            decode(block);
        }
        return file.segment().asSlice(0, starts[blocks()]);
    }

    private void decode(int block) {
        if (done.getAcquire(block) == 0) {
            synchronized (locks[block % STRIPES]) {
                if (done.get(block) == 0) {
                    fill(block);
                    done.setRelease(block, 1);
                }
            }
        }
    }

    private void fill(int block) {
        Place place = new Place(starts[block], starts[block + 1]);
        try {
            decoder.decode(block, place);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (OutOfMemoryError e) {
            throw new UncheckedIOException(new IOException(store + ": no memory for the " + byteSize(block)
                    + " bytes that a block decodes to", e));
        }
        if (place.at != place.end) {
            throw new IllegalStateException("block " + block + " was decoded to " + (place.end - place.at)
                    + " bytes too few");
        }
    }

    public static void put(MemorySegment bytes, Output output) throws IOException {
        byte[] chunk = new byte[(int) Math.min(WRITE_BYTES, bytes.byteSize())];
        for (long at = 0; at < bytes.byteSize(); at += chunk.length) {
            int length = (int) Math.min(chunk.length, bytes.byteSize() - at);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
            output.put(chunk, 0, length);
        }
    }

    /** The part of a block's place in the file that is not written yet. */
    private final class Place implements Output {

        private long at;
        private final long end;

        Place(long at, long end) {
            this.at = at;
            this.end = end;
        }

        @Override
        public void put(byte[] bytes, int offset, int length) throws IOException {
            if (length > end - at) {
                throw new IllegalStateException("a block is decoded to more bytes than it has");
            }
            copy.write(at, bytes, offset, length);
            at += length;
        }
    }

    /** Frees the copy's memory and disk space. Calling it again does nothing. */
    @Override
    public void close() {
        copy.close();
    }
}
