// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.codec.decoder.Gzip;
import io.penstock.codec.decoder.Zstd;
import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Reverses the filters of a dataset's chunks, last first. */
record FilterPipeline(List<Filter> filters, int chunkBytes) {

    private static final long SIZE_UNKNOWN = -1;
    private static final int CHECKSUM_BYTES = 4;

    /**
     * Decodes a chunk; bit i of {@code skipped} is set if filter i was not applied. Errors name neither file nor chunk.
     */
    byte[] decode(byte[] stored, int skipped) throws IOException {
        byte[] bytes = stored;
        for (int i = filters.size() - 1; i >= 0; i--) {
            if ((skipped >> i & 1) == 0) {
                bytes = undo(filters.get(i), bytes, sizeBefore(i, skipped));
            }
        }
        if (bytes.length != chunkBytes) {
            throw new CodecException("the chunk has " + bytes.length + " bytes, expected " + chunkBytes);
        }
        return bytes;
    }

    /** Returns the size of a chunk before a filter; known unless an earlier filter had compressed it. */
    private long sizeBefore(int filter, int skipped) {
        long size = chunkBytes;
        for (int i = 0; i < filter; i++) {
            if ((skipped >> i & 1) == 0) {
                switch (filters.get(i).id()) {
                    case Filter.SHUFFLE -> { }
                    case Filter.FLETCHER32 -> size += size == SIZE_UNKNOWN ? 0 : CHECKSUM_BYTES;
                    default -> size = SIZE_UNKNOWN;
                }
            }
        }
        return size;
    }

    private byte[] undo(Filter filter, byte[] bytes, long size) throws IOException {
        return switch (filter.id()) {
            case Filter.DEFLATE -> inflate(bytes, size);
            case Filter.SHUFFLE -> unshuffle(bytes, filter.parameters()[0]);
            case Filter.FLETCHER32 -> checked(bytes);
            case Filter.LZF -> unlzf(bytes, size);
            case Filter.ZSTD -> unzstd(bytes, size);
            default -> throw new CodecException("the filter " + filter.name() + " is not supported");
        };
    }

    /** Returns the most that a filter may decode to. Data compressed twice may be a little larger in between. */
    private long most(long size) {
        return size == SIZE_UNKNOWN ? Math.min(chunkBytes + chunkBytes / 8L + (64 << 10), Integer.MAX_VALUE - 8) : size;
    }

    private byte[] inflate(byte[] packed, long size) {
        long most = most(size);
        byte[] bytes = new byte[(int) Math.min(most, (long) Gzip.MAX_EXPANSION * packed.length)];
        int length = 0;
        try (Inflater inflater = new Inflater()) {
            inflater.setInput(packed);
            while (!inflater.finished()) {
                int more = inflater.inflate(bytes, length, bytes.length - length);
                length += more;
                if (more == 0 && !inflater.finished()) {
                    throw new CodecException(inflater.needsInput() || inflater.needsDictionary()
                            ? "deflate: the data is truncated" : "deflate: more than " + most + " bytes");
                }
            }
        } catch (DataFormatException e) {
            throw new CodecException("deflate: " + (e.getMessage() == null ? "malformed data" : e.getMessage()));
        }
        return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
    }

    private byte[] unlzf(byte[] packed, long size) {
        MemorySegment source = MemorySegment.ofArray(packed);
        long decoded = Lzf.decodedSize(source);
        if (decoded > most(size)) {
            throw new CodecException("lzf: the block decodes to " + decoded + " bytes, expected at most " + most(size));
        }
        byte[] bytes = new byte[(int) decoded];
        Lzf.decompress(source, MemorySegment.ofArray(bytes));
        return bytes;
    }

    private byte[] unzstd(byte[] packed, long size) throws IOException {
        if (size == SIZE_UNKNOWN) {
            throw new CodecException("zstd after another compressing filter is not supported");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, packed);
            MemorySegment target = arena.allocate(size);
            Zstd.decompress(source, target);
            return target.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** The filter wrote the first bytes of all elements, then the second ones, …, then the rest. */
    private static byte[] unshuffle(byte[] planes, int elementBytes) {
        if (elementBytes <= 1) {
            return planes;
        }
        int elements = planes.length / elementBytes;
        byte[] bytes = new byte[planes.length];
        for (int plane = 0, from = 0; plane < elementBytes && elements > 0; plane++) {
            for (int i = 0, to = plane; i < elements; i++, to += elementBytes) {
                bytes[to] = planes[from++];
            }
        }
        int whole = elements * elementBytes;
        System.arraycopy(planes, whole, bytes, whole, planes.length - whole);
        return bytes;
    }

    private static byte[] checked(byte[] bytes) {
        int length = bytes.length - CHECKSUM_BYTES;
        if (length < 0) {
            throw new CodecException("fletcher32: no checksum in " + bytes.length + " bytes");
        }
        int stated = MemorySegment.ofArray(bytes).get(LittleEndian.I32, length);
        int found = Fletcher32.of(bytes, length);
        // Before release 1.6.3 the library had the bytes of either half swapped on little-endian machines.
        if (stated != found && stated != ((found & 0x00FF00FF) << 8 | found >>> 8 & 0x00FF00FF)) {
            throw new CodecException(String.format(Locale.ROOT, "fletcher32: checksum %08x, expected %08x", stated,
                    found));
        }
        return Arrays.copyOf(bytes, length);
    }
}
