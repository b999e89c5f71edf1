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
 */
record ColumnChunk(List<String> path, Physical physical, Compression compression, List<Encoding> encodings, long values,
        long start, long byteSize, boolean isAlwaysCompressed) {

    /** By the format's codes. */
    private static final List<Compression> COMPRESSIONS = List.of(Compression.NONE, Compression.SNAPPY,
            Compression.GZIP, Compression.LZO, Compression.BROTLI, Compression.LZ4_HADOOP, Compression.ZSTD,
            Compression.LZ4_RAW);

    String name() {
        return String.join(".", path);
    }

    ColumnChunk alwaysCompressed() {
        return new ColumnChunk(path, physical, compression, encodings, values, start, byteSize, true);
    }

    /** Reads a column chunk of a footer; its pages must end before {@code pagesEnd}. */
    static ColumnChunk read(ThriftReader in, long pagesEnd) {
        ColumnChunk chunk = null;
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
                case 8 -> throw in.malformed("an encrypted column", "plain ones");
                default -> in.skip();
            }
        }
        if (chunk == null) {
            throw in.malformed("a column chunk without metadata", "metadata");
        }
        return chunk;
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
                List.copyOf(encodings), values, start, byteSize, false);
    }
}
