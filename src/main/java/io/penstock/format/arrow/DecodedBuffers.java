package io.penstock.format.arrow;

import io.penstock.codec.CodecException;
import io.penstock.codec.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.spill.DecodedBlocks;
import io.penstock.io.spill.DecodedSpill;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The buffers that cannot be read in place: compressed ones, and truth values, which are stored as bits and given as
 * bytes. Each is one block of the decoded copy: a random row decodes the buffers of its own column in its own batch,
 * and once.
 *
 * <p>The place of a buffer is a byte's offset in the batch's file, {@link #ABSENT}, or, below that, {@code -2 - n} for
 * the decoded buffer {@code n}.
 */
final class DecodedBuffers implements AutoCloseable {

    /** The place of a buffer that is not there. */
    static final long ABSENT = -1;
    private static final int FIRST_DECODED = -2;

    private final List<MappedFile> files = new ArrayList<>();
    private final Longs fileOf = new Longs();
    private final Longs offsets = new Longs();
    private final Longs storedBytes = new Longs();
    /** What the stored bytes decompress to, before bits become bytes. */
    private final Longs plainBytes = new Longs();
    private final Longs sizes = new Longs();
    private final BitSet isBits = new BitSet();
    private final List<Compression> compressions = new ArrayList<>();
    private DecodedBlocks blocks;
    private DecodedSpill texts;
    private DecodeLimit.Budget textBudget;

    /**
     * The place of a buffer of a batch.
     *
     * @param bits the number of truth values in it that are to become bytes; -1 if it is read as it is
     */
    long place(ArrowBatch batch, ArrowBatch.Stored stored, long bits) {
        return bits < 0 && stored.decodedBytes() < 0 || stored.size() == 0 ? stored.offset()
                : FIRST_DECODED - (long) add(batch.file(), stored, batch.compression(), bits);
    }

    /** A buffer; it is decoded if it was not. */
    MemorySegment segment(MappedFile file, long place, long bytes) {
        return place >= 0 ? file.range(place, bytes) : blocks.block((int) (FIRST_DECODED - place));
    }

    /** Points at a part of a buffer; decodes it if it was not. */
    void locate(MappedFile file, long place, long offset, long bytes, Span into) {
        if (place >= 0) {
            into.set(file, place + offset, bytes);
        } else {
            blocks.locate((int) (FIRST_DECODED - place), offset, bytes, into);
        }
    }

    /** A number with a sign in a buffer, of 1, 4 or 8 bytes; decodes the buffer if it was not. */
    long number(MappedFile file, long place, long offset, int bytes) {
        if (place < 0) {
            return blocks.number((int) (FIRST_DECODED - place), offset, bytes);
        }
        file.require(place + offset, bytes);
        return switch (bytes) {
            case Byte.BYTES -> file.mapping().get(ValueLayout.JAVA_BYTE, place + offset);
            case Integer.BYTES -> file.mapping().get(LittleEndian.I32, place + offset);
            default -> file.mapping().get(LittleEndian.I64, place + offset);
        };
    }

    /** Where texts go that are made of buffers. */
    DecodedSpill texts() {
        return texts;
    }

    /** What all texts may take. */
    DecodeLimit.Budget textBudget() {
        return textBudget;
    }

    /** Adds a buffer; {@code bits} is the number of truth values in it, -1 if it is not of bits. Returns its number. */
    private int add(MappedFile file, ArrowBatch.Stored stored, Compression compression, long bits) {
        if (files.isEmpty() || files.getLast() != file) {
            files.add(file);
        }
        fileOf.add(files.size() - 1L);
        offsets.add(stored.offset());
        storedBytes.add(stored.bytes());
        plainBytes.add(stored.size());
        isBits.set(sizes.count(), bits >= 0);
        sizes.add(bits < 0 ? stored.size() : bits);
        compressions.add(stored.decodedBytes() < 0 ? Compression.NONE : compression);
        return sizes.count() - 1;
    }

    /**
     * All buffers are added; checks what those of each file decode to.
     *
     * @param storedBytes of all files
     */
    void freeze(Location store, DecodeLimit limit, long storedBytes) throws IOException {
        long[] decodedBytes = new long[files.size()];
        for (int i = 0; i < sizes.count(); i++) {
            decodedBytes[(int) fileOf.get(i)] += compressions.get(i) == Compression.NONE ? 0 : plainBytes.get(i);
        }
        for (int i = 0; i < decodedBytes.length; i++) {
            limit.check(files.get(i).location(), files.get(i).byteSize(), decodedBytes[i]);
        }
        textBudget = limit.budget(store, storedBytes);
        texts = new DecodedSpill(store);
        if (sizes.count() > 0) {
            blocks = DecodedBlocks.create(store, sizes.toArray(), this::decode);
        }
    }

    private void decode(int buffer, MemorySegment target) throws IOException {
        MappedFile file = files.get((int) fileOf.get(buffer));
        long offset = offsets.get(buffer);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stored = file.range(offset, storedBytes.get(buffer));
            Compression compression = compressions.get(buffer);
            boolean bits = isBits.get(buffer);
            MemorySegment plain = bits && compression != Compression.NONE
                    ? arena.allocate(plainBytes.get(buffer), Long.BYTES) : target;
            if (compression != Compression.NONE) {
                // Native code gets no mapping: the file may shrink.
                compression.decode(arena.allocate(stored.byteSize(), Long.BYTES).copyFrom(stored), plain);
                stored = plain;
            }
            if (bits) {
                bitsToBytes(stored, target);
            } else if (compression == Compression.NONE) {
                target.copyFrom(stored);
            }
            file.checkUnchanged();
        } catch (CodecException e) {
            throw new MalformedStoreException(file.location(), offset, e.getMessage(),
                    "a compressed buffer of " + plainBytes.get(buffer) + " bytes");
        } catch (InternalError fault) {
            throw file.explain(fault);
        } catch (OutOfMemoryError e) {
            throw new IOException(file.location() + ": no memory for a buffer of " + plainBytes.get(buffer) + " bytes",
                    e);
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
        if (texts != null) {
            texts.close();
        }
        if (blocks != null) {
            blocks.close();
        }
    }
}
