// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes Parquet files of one column chunk by hand: what no library writes, or none writes any more. */
final class ParquetBytes {

    private final ByteArrayOutputStream pages = new ByteArrayOutputStream();
    private final List<ThriftBytes> schema = new ArrayList<>();
    private Physical physical = Physical.INT32;
    private String[] path = {"x"};
    private int codec;
    private long values;
    private long groupRows;
    private long fileRows;
    private long start = FileMetadata.MAGIC_BYTES;
    private long sizeError;
    private String otherFile;
    private ThriftBytes property;
    private String createdBy;

    /** A file of so many rows and values. */
    ParquetBytes(long rows, long values) {
        this.values = values;
        this.groupRows = rows;
        this.fileRows = rows;
        pages.writeBytes("PAR1".getBytes(StandardCharsets.ISO_8859_1));
        schema.add(new ThriftBytes().string(4, "schema").i32(5, 1));
    }

    /** A leaf of a schema. */
    static ThriftBytes leaf(String name, Physical physical, int repetition) {
        return new ThriftBytes().i32(1, physical.ordinal()).i32(3, repetition).string(4, name);
    }

    /** A group of a schema; {@code converted} -1 for none. */
    static ThriftBytes group(String name, int repetition, int children, int converted) {
        ThriftBytes group = new ThriftBytes().i32(3, repetition).string(4, name).i32(5, children);
        return converted < 0 ? group : group.i32(6, converted);
    }

    /** The nodes below the root; without it, a required INT32 called {@code x}. */
    ParquetBytes schema(Physical leaf, String[] leafPath, ThriftBytes... nodes) {
        physical = leaf;
        path = leafPath;
        schema.addAll(List.of(nodes));
        return this;
    }

    ParquetBytes codec(int code) {
        codec = code;
        return this;
    }

    /** Another count of rows in the file than in its row group. */
    ParquetBytes fileRows(long rows) {
        fileRows = rows;
        return this;
    }

    /** Another place of the chunk than the first byte behind the magic, and another size than its pages have. */
    ParquetBytes place(long byteStart, long byteSizeError) {
        start = byteStart;
        sizeError = byteSizeError;
        return this;
    }

    /** Who wrote the file, as its footer says. */
    ParquetBytes createdBy(String program) {
        createdBy = program;
        return this;
    }

    /** A property of the file. */
    ParquetBytes property(ThriftBytes pair) {
        property = pair;
        return this;
    }

    /** The file that the chunk is in, as its place says. */
    ParquetBytes otherFile(String name) {
        otherFile = name;
        return this;
    }

    /** A data page of version 1 whose levels are in one encoding. */
    ParquetBytes page(int pageValues, Encoding encoding, Encoding levels, int uncompressedBytes, byte... bytes) {
        return page(new ThriftBytes().i32(1, 0).i32(2, uncompressedBytes).i32(3, bytes.length).struct(5,
                new ThriftBytes().i32(1, pageValues).i32(2, encoding.ordinal()).i32(3, levels.ordinal())
                        .i32(4, levels.ordinal())), bytes);
    }

    /** A data page of version 1 that is not compressed. */
    ParquetBytes page(int pageValues, Encoding encoding, byte... bytes) {
        return page(pageValues, encoding, Encoding.RLE, bytes.length, bytes);
    }

    /** A dictionary page. */
    ParquetBytes dictionary(int entries, byte... bytes) {
        return page(new ThriftBytes().i32(1, 2).i32(2, bytes.length).i32(3, bytes.length).struct(7,
                new ThriftBytes().i32(1, entries).i32(2, Encoding.PLAIN_DICTIONARY.ordinal())), bytes);
    }

    /** A page with a header of one's own. */
    ParquetBytes page(ThriftBytes header, byte... bytes) {
        pages.writeBytes(header.end());
        pages.writeBytes(bytes);
        return this;
    }

    /** Numbers as 4 bytes each. */
    static byte[] ints(int... numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int number : numbers) {
            bytes.putInt(number);
        }
        return bytes.array();
    }

    /** Runs of bytes as one. */
    static byte[] join(byte[]... runs) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] run : runs) {
            all.writeBytes(run);
        }
        return all.toByteArray();
    }

    private byte[] footer() {
        if (schema.size() == 1) {
            schema.add(leaf("x", Physical.INT32, 0));
        }
        ThriftBytes chunk = new ThriftBytes().i32(1, physical.ordinal()).i32s(2, 0).strings(3, path).i32(4, codec)
                .i64(5, values).i64(6, pages.size()).i64(7, pages.size() - FileMetadata.MAGIC_BYTES + sizeError)
                .i64(9, start);
        ThriftBytes place = otherFile == null ? new ThriftBytes() : new ThriftBytes().string(1, otherFile);
        ThriftBytes group = new ThriftBytes().structs(1, place.i64(2, 4).struct(3, chunk)).i64(2, 1)
                .i64(3, groupRows);
        ThriftBytes footer = new ThriftBytes().i32(1, 1).structs(2, schema.toArray(ThriftBytes[]::new)).i64(3, fileRows)
                .structs(4, group);
        if (property != null) {
            footer = footer.structs(5, property);
        }
        return (createdBy == null ? footer : footer.string(6, createdBy)).end();
    }

    /** The file with a footer of one's own. */
    static byte[] withFooter(byte[] head, byte[] footer) {
        return join(head, footer, ints(footer.length), "PAR1".getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Writes the file. */
    Path write(Path file) throws IOException {
        return Files.write(file, withFooter(pages.toByteArray(), footer()));
    }
}
