// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The messages of one mapped file, in a stream's order or by the footer of the file format. */
final class ArrowFile {

    /** The start of the file format: the magic, padded. */
    static final String HEAD = "ARROW1\0\0";
    private static final int HEAD_BYTES = HEAD.length();
    private static final String MAGIC = "ARROW1";
    /** The size of the footer's length and the magic. */
    private static final int TAIL_BYTES = Integer.BYTES + MAGIC.length();
    private static final int BLOCK_BYTES = 24;

    /** Tells whether a file is in the file format, which has a footer. */
    static boolean hasFooter(MappedFile file) {
        return hasAt(file, 0, HEAD);
    }

    private static boolean hasAt(MappedFile file, long at, String latin1) {
        return at >= 0 && latin1.length() <= file.byteSize() - at && file.range(at, latin1.length())
                .mismatch(MemorySegment.ofArray(latin1.getBytes(StandardCharsets.ISO_8859_1))) < 0;
    }

    /** Reads the schema alone. */
    static List<ArrowField> schema(MappedFile file) {
        requireContent(file);
        return ArrowField.readAll(hasFooter(file) ? schemaOf(footer(file)) : schemaMessage(file).header());
    }

    private static void requireContent(MappedFile file) {
        if (file.byteSize() == 0) {
            throw new MalformedStoreException(file.location(), "an empty file", "an Arrow file or stream");
        }
    }

    /** Reads all messages in the order of a stream: the schema, then dictionaries and batches. */
    static void read(MappedFile file, ArrowTable.Reader reader) {
        requireContent(file);
        if (hasFooter(file)) {
            readFile(file, reader);
        } else {
            readStream(file, reader);
        }
    }

    private static void readStream(MappedFile file, ArrowTable.Reader reader) {
        long end = file.byteSize();
        ArrowMessage message = schemaMessage(file);
        reader.schema(file, ArrowField.readAll(message.header()));
        for (message = read(file, message.end(), end); message != null; message = read(file, message.end(), end)) {
            take(file, message, reader);
        }
    }

    private static ArrowMessage schemaMessage(MappedFile file) {
        ArrowMessage message = read(file, 0, file.byteSize());
        if (message == null || message.type() != ArrowMessage.SCHEMA) {
            throw new MalformedStoreException(file.location(), 0, "no schema",
                    "the magic ARROW1 or a schema's message");
        }
        return message;
    }

    private static @Nullable ArrowMessage read(MappedFile file, long start, long end) {
        return ArrowMessage.read(file.location(), file::range, start, end);
    }

    private static void take(MappedFile file, ArrowMessage message, ArrowTable.Reader reader) {
        FlatTable header = message.header();
        switch (message.type()) {
            case ArrowMessage.RECORD_BATCH -> reader.batch(new ArrowBatch(file, header, message));
            case ArrowMessage.DICTIONARY_BATCH -> {
                FlatTable data = header.table(1);
                if (data == null) {
                    throw header.malformed("a dictionary without data", "a record batch");
                }
                reader.dictionary(header.i64(0, 0), header.bool(2), new ArrowBatch(file, data, message));
            }
            default -> throw header.malformed("a second schema", "a dictionary or a record batch");
        }
    }

    private static FlatTable footer(MappedFile file) {
        long size = file.byteSize();
        long start = footerStart(file);
        return FlatTable.root(file.location(), file.range(start, size - TAIL_BYTES - start), start);
    }

    private static long footerStart(MappedFile file) {
        long size = file.byteSize();
        long magicAt = size - MAGIC.length();
        if (size < HEAD_BYTES + TAIL_BYTES || !hasAt(file, magicAt, MAGIC)) {
            throw new MalformedStoreException(file.location(), Math.max(0, magicAt),
                    "no ARROW1 at the file's end", "the footer and its magic (is the file cut?)");
        }
        int footerBytes = file.range(size - TAIL_BYTES, Integer.BYTES).get(LittleEndian.I32, 0);
        if (footerBytes <= 0 || footerBytes > size - TAIL_BYTES - HEAD_BYTES) {
            throw new MalformedStoreException(file.location(), size - TAIL_BYTES, "a footer of " + footerBytes
                    + " bytes", "1 to " + (size - TAIL_BYTES - HEAD_BYTES));
        }
        return size - TAIL_BYTES - footerBytes;
    }

    private static FlatTable schemaOf(FlatTable footer) {
        FlatTable schema = footer.table(1);
        if (schema == null) {
            throw footer.malformed("a footer without a schema", "one");
        }
        return schema;
    }

    private static void readFile(MappedFile file, ArrowTable.Reader reader) {
        FlatTable footer = footer(file);
        long footerStart = footerStart(file);
        reader.schema(file, ArrowField.readAll(schemaOf(footer)));
        readBlocks(file, footer, 2, ArrowMessage.DICTIONARY_BATCH, footerStart, reader);
        readBlocks(file, footer, 3, ArrowMessage.RECORD_BATCH, footerStart, reader);
    }

    private static void readBlocks(MappedFile file, FlatTable footer, int slot, int type, long end,
            ArrowTable.Reader reader) {
        FlatTable.Vector blocks = footer.vector(slot, BLOCK_BYTES);
        long[] starts = new long[(int) blocks.count()];
        long[] ends = new long[starts.length];
        for (long i = 0; i < blocks.count(); i++) {
            long offset = blocks.i64(i, 0);
            if (offset < HEAD_BYTES || offset >= end) {
                throw footer.malformed("block " + i + " at byte " + offset, HEAD_BYTES + " to " + end);
            }
            ArrowMessage message = read(file, offset, end);
            if (message == null || message.type() != type || message.bodyBytes() != blocks.i64(i, 16)
                    || message.bodyStart() - offset != blocks.i32(i, 8)) {
                throw new MalformedStoreException(file.location(), offset, "another message than the footer has in"
                        + " block " + i, "one of type " + type + ", with " + blocks.i32(i, 8) + " bytes before "
                        + blocks.i64(i, 16) + " of its body");
            }
            starts[(int) i] = offset;
            ends[(int) i] = message.end();
            take(file, message, reader);
        }
        Arrays.sort(starts);
        Arrays.sort(ends);
        for (int i = 1; i < starts.length; i++) {
            // Otherwise a footer could list the same batch any number of times.
            if (starts[i] < ends[i - 1]) {
                throw footer.malformed("blocks that overlap at byte " + starts[i], "each batch once");
            }
        }
    }
}
