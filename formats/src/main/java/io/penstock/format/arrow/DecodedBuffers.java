// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.arrow.ArrowBatch.Stored;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedBlocks;
import io.penstock.io.publish.DecodedSpill;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The buffers that cannot be read in place: compressed ones, and booleans, which are stored as bits and given as bytes.
 * Each is one block of the decoded copy, so a random row decodes only the buffers of its column and batch, and only
 * once.
 *
 * <p>The place of a buffer is its offset in the batch's file, {@link #ABSENT}, or {@code -2 - n} for the decoded buffer
 * {@code n}.
 */
final class DecodedBuffers implements AutoCloseable {

    static final long ABSENT = -1;
    private static final int FIRST_DECODED = -2;

    /** Makes the values of a column of values that are stored in another form. */
    interface Conversion {

        /** Booleans, which are stored as bits and given as bytes. */
        Conversion BITS = DecodedBuffers::bitsToBytes;

        void convert(MemorySegment stored, MemorySegment target);
    }

    /**
     * A buffer to be decoded.
     *
     * @param conversion how its values are made of the stored ones; null if they are those
     */
    private record Encoded(MappedFile file, Stored stored, Compression compression, @Nullable Conversion conversion,
            long decodedBytes) {
    }

    private final List<Encoded> buffers = new ArrayList<>();
    /** Null if no buffer is decoded. */
    private @Nullable DecodedBlocks blocks;
    @SuppressWarnings("NullAway.Init") // by freeze
    private DecodedSpill texts;
    @SuppressWarnings("NullAway.Init") // by freeze
    private DecodeLimit.Budget textBudget;

    /** Returns the place of a buffer; {@code bytes} is its size after the conversion. */
    long place(ArrowBatch batch, Stored stored, @Nullable Conversion conversion, long bytes) {
        boolean isCompressed = stored.decodedBytes() >= 0;
        if (conversion == null && !isCompressed || stored.size() == 0) {
            return stored.offset();
        }
        buffers.add(new Encoded(batch.file(), stored, isCompressed ? batch.compression() : Compression.NONE, conversion,
                conversion == null ? stored.size() : bytes));
        return FIRST_DECODED - (buffers.size() - 1L);
    }

    /** Returns a buffer, decoding it if needed. */
    MemorySegment segment(MappedFile file, long place, long bytes) {
        return place >= 0 ? file.range(place, bytes) : blocks().block((int) (FIRST_DECODED - place));
    }

    /** Locates a part of a buffer, decoding it if needed. */
    void locate(MappedFile file, long place, long offset, long bytes, Span into) {
        if (place >= 0) {
            into.set(file, place + offset, bytes);
        } else {
            blocks().locate((int) (FIRST_DECODED - place), offset, bytes, into);
        }
    }

    /** Reads a signed number of 1, 4 or 8 bytes, decoding the buffer if needed. */
    long number(MappedFile file, long place, long offset, int bytes) {
        if (place < 0) {
            return blocks().number((int) (FIRST_DECODED - place), offset, bytes);
        }
        file.require(place + offset, bytes);
        return switch (bytes) {
            case Byte.BYTES -> file.mapping().get(ValueLayout.JAVA_BYTE, place + offset);
            case Integer.BYTES -> file.mapping().get(LittleEndian.I32, place + offset);
            default -> file.mapping().get(LittleEndian.I64, place + offset);
        };
    }

    private DecodedBlocks blocks() {
        return Objects.requireNonNull(blocks, "no buffer is decoded");
    }

    /** Returns the copy for texts that are made of buffers. */
    DecodedSpill texts() {
        return texts;
    }

    DecodeLimit.Budget textBudget() {
        return textBudget;
    }

    /**
     * Ends the adding of buffers; checks the decoded size of each file. {@code storedBytes} is the size of all files.
     */
    void freeze(Location store, DecodeLimit limit, long storedBytes) throws IOException {
        Map<MappedFile, Long> decodedBytes = new LinkedHashMap<>();
        for (Encoded buffer : buffers) {
            if (buffer.compression() != Compression.NONE) {
                decodedBytes.merge(buffer.file(), buffer.stored().size(), Long::sum);
            }
        }
        for (Map.Entry<MappedFile, Long> file : decodedBytes.entrySet()) {
            limit.check(file.getKey().location(), file.getKey().byteSize(), file.getValue());
        }
        textBudget = limit.budget(store, storedBytes);
        texts = new DecodedSpill(store);
        if (!buffers.isEmpty()) {
            blocks = DecodedBlocks.create(store, buffers.stream().mapToLong(Encoded::decodedBytes).toArray(),
                    (number, target) -> decode(buffers.get(number), target));
        }
    }

    private static void decode(Encoded buffer, MemorySegment target) throws IOException {
        MappedFile file = buffer.file();
        Stored stored = buffer.stored();
        try (Arena arena = Arena.ofConfined()) {
            file.reading(() -> {
                MemorySegment plain = file.range(stored.offset(), stored.bytes());
                if (buffer.compression() != Compression.NONE) {
                    // Native code gets no mapping: the file may shrink.
                    MemorySegment copy = arena.allocate(stored.bytes(), Long.BYTES).copyFrom(plain);
                    plain = buffer.conversion() == null ? target : arena.allocate(stored.size(), Long.BYTES);
                    buffer.compression().decode(copy, plain);
                }
                if (buffer.conversion() != null) {
                    buffer.conversion().convert(plain, target);
                }
                return target;
            });
            file.checkUnchanged();
        } catch (CodecException e) {
            throw new MalformedStoreException(file.location(), stored.offset(), String.valueOf(e.getMessage()),
                    "a compressed buffer of " + stored.size() + " bytes");
        } catch (OutOfMemoryError e) {
            throw new IOException(file.location() + ": no memory for a buffer of " + stored.size() + " bytes", e);
        }
    }

    private static void bitsToBytes(MemorySegment bits, MemorySegment bytes) {
        for (long i = 0; i < bytes.byteSize(); i++) {
            int eight = bits.get(ValueLayout.JAVA_BYTE, i >> 3);
            bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (eight >> (i & 7) & 1));
        }
    }

    @Override
    public void close() {
        texts.close();
        if (blocks != null) {
            blocks.close();
        }
    }
}
