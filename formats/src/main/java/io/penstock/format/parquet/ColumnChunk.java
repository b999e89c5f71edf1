// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.codec.decoder.Compression;
import java.util.ArrayList;
import java.util.List;

/**
 * The place of a column's values of one row group, and how they are stored.
 *
 * @param path the names from the schema's root to the leaf
 * @param values the number of values, nulls and empty lists included
 * @param start the offset of its first page
 * @param byteSize the size of its pages with their headers
 * @param isAlwaysCompressed whether the values of all pages are compressed, whatever the pages say
 * @param offsetIndex where the places of its pages are; empty if the file does not have them
 * @param columnIndex where the least and greatest values of its pages are; empty if the file does not have them
 * @param statistics where the footer has its least and greatest values; empty if it has none
 */
record ColumnChunk(List<String> path, Physical physical, Compression compression, List<Encoding> encodings, long values,
        long start, long byteSize, boolean isAlwaysCompressed, Range offsetIndex, Range columnIndex,
        Range statistics) {

    /** A range of the file's bytes. */
    record Range(long start, long byteSize) {

        static final Range EMPTY = new Range(0, 0);

        boolean isEmpty() {
            return byteSize == 0;
        }

        long end() {
            return start + byteSize;
        }
    }

    /** By the format's codes. */
    private static final List<Compression> COMPRESSIONS = List.of(Compression.NONE, Compression.SNAPPY,
            Compression.GZIP, Compression.LZO, Compression.BROTLI, Compression.LZ4_HADOOP, Compression.ZSTD,
            Compression.LZ4_RAW);

    String name() {
        return String.join(".", path);
    }

    ColumnChunk alwaysCompressed() {
        return new ColumnChunk(path, physical, compression, encodings, values, start, byteSize, true, offsetIndex,
                columnIndex, statistics);
    }

    private ColumnChunk withIndexes(Range offsets, Range columns) {
        return new ColumnChunk(path, physical, compression, encodings, values, start, byteSize, isAlwaysCompressed,
                offsets, columns, statistics);
    }

    long end() {
        return start + byteSize;
    }

    /** Reads a column chunk of a footer; its pages must end before {@code pagesEnd}. */
    static ColumnChunk read(ThriftReader in, long pagesEnd) {
        ColumnChunk chunk = null;
        long[] index = new long[4];
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> {
                    String other = in.text();
                    if (!other.isEmpty()) {
                        throw in.malformed("a column chunk in the file '" + other + "'", "one in this file");
                    }
                }
                case 3 -> chunk = readMetadata(in, pagesEnd);
                case 4 -> index[0] = in.i64();
                case 5 -> index[1] = in.i32();
                case 6 -> index[2] = in.i64();
                case 7 -> index[3] = in.i32();
                case 8 -> throw in.malformed("an encrypted column", "plain ones");
                default -> in.skip();
            }
        }
        if (chunk == null) {
            throw in.malformed("a column chunk without metadata", "metadata");
        }
        return chunk.withIndexes(range(in, index[0], index[1], pagesEnd), range(in, index[2], index[3], pagesEnd));
    }

    private static Range range(ThriftReader in, long start, long byteSize, long pagesEnd) {
        if (start == 0 && byteSize == 0) {
            return Range.EMPTY;
        }
        if (start < FileMetadata.MAGIC_BYTES || byteSize < 0 || start > pagesEnd || byteSize > pagesEnd - start) {
            throw in.malformed("an index of " + byteSize + " bytes from byte " + start,
                    "one between the magic and byte " + pagesEnd);
        }
        return byteSize == 0 ? Range.EMPTY : new Range(start, byteSize);
    }

    private static ColumnChunk readMetadata(ThriftReader in, long pagesEnd) {
        int type = -1;
        List<Encoding> encodings = new ArrayList<>();
        List<String> path = new ArrayList<>();
        int codec = -1;
        long values = -1;
        long byteSize = -1;
        long dataStart = -1;
        long dictionaryStart = -1;
        Range statistics = Range.EMPTY;
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> type = in.i32();
                case 2 -> {
                    for (int i = in.list(ThriftReader.I32); i > 0; i--) {
                        encodings.add(Encoding.of(in.i32()));
                    }
                }
                case 3 -> {
                    for (int i = in.list(ThriftReader.BINARY); i > 0; i--) {
                        path.add(in.string());
                    }
                }
                case 4 -> codec = in.i32();
                case 5 -> values = in.i64();
                case 7 -> byteSize = in.i64();
                case 9 -> dataStart = in.i64();
                case 11 -> dictionaryStart = in.i64();
                case 12 -> {
                    long from = in.position();
                    in.skip();
                    statistics = new Range(from, in.position() - from);
                }
                default -> in.skip();
            }
        }
        if (type < 0 || type >= Physical.values().length || codec < 0 || codec >= COMPRESSIONS.size()
                || encodings.contains(Encoding.UNKNOWN)) {
            throw in.malformed("a column chunk of type " + type + ", codec " + codec + ", encodings " + encodings,
                    "codes of the format");
        }
        long start = dictionaryStart > 0 && dictionaryStart < dataStart ? dictionaryStart : dataStart;
        boolean placed = start >= FileMetadata.MAGIC_BYTES && start <= pagesEnd && byteSize <= pagesEnd - start;
        if (values < 0 || byteSize < 0 || values > 0 && !placed) {
            throw in.malformed("a column chunk of " + values + " values in " + byteSize + " bytes from byte " + start,
                    "a chunk between the magic and byte " + pagesEnd);
        }
        return new ColumnChunk(List.copyOf(path), Physical.values()[type], COMPRESSIONS.get(codec),
                List.copyOf(encodings), values, start, byteSize, false, Range.EMPTY, Range.EMPTY, statistics);
    }
}
