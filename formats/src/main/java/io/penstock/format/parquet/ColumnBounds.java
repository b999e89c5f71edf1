// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.arrow.ArrowType;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.RowFilter.Bounds;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What a file says of the values of a column: the least and the greatest one and the number of nulls, of a row group in
 * the footer ({@code Statistics}), of each page in the page index ({@code ColumnIndex}, {@code OffsetIndex}). Of the
 * older fields {@code min} and {@code max} only those of signed numbers count: the order of the others is not defined.
 *
 * <p>Source: {@code parquet.thrift} and {@code PageIndex.md} of apache/parquet-format.
 */
final class ColumnBounds {

    /** The bounds of each page, and its first row in the row group. */
    record OfPages(List<Bounds> bounds, long[] firstRows) {
    }

    private ColumnBounds() {
    }

    /** Tells whether the order of the values is known: not that of lists, decimals and half floats. */
    static boolean areKnown(ParquetColumn column) {
        return column instanceof Flat flat && !flat.isList() && flat.leaf().type().id() != ArrowType.Id.NULL
                && flat.leaf().type().id() != ArrowType.Id.DECIMAL
                && (flat.column().kind() == Column.Kind.NUMBERS || !flat.column().encoding().equals("json"))
                && (flat.leaf().physical() != Physical.FIXED_LEN_BYTE_ARRAY
                        || flat.leaf().type().id() == ArrowType.Id.FIXED_SIZE_BINARY);
    }

    /** Returns what the footer says of a chunk; null if it says nothing. */
    static @Nullable Bounds ofChunk(MappedFile file, ColumnChunk chunk, Flat flat) {
        ColumnChunk.Range range = chunk.statistics();
        if (range.isEmpty()) {
            return null;
        }
        file.require(range.start(), range.byteSize());
        var in = new ThriftReader(file.location(), file.mapping(), range.start(), range.end());
        byte[] oldMax = null;
        byte[] oldMin = null;
        byte[] max = null;
        byte[] min = null;
        long nulls = -1;
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> oldMax = in.binary();
                case 2 -> oldMin = in.binary();
                case 3 -> nulls = in.i64();
                case 5 -> max = in.binary();
                case 6 -> min = in.binary();
                default -> in.skip();
            }
        }
        boolean oldCount = !flat.leaf().isBinary() && flat.leaf().type().isSigned()
                || flat.leaf().type().id() == ArrowType.Id.FLOAT;
        return bounds(min == null && oldCount ? oldMin : min, max == null && oldCount ? oldMax : max, nulls,
                chunk.values(), flat);
    }

    /** Returns what the page index says of the pages of a chunk; null if there is none. */
    static @Nullable OfPages ofPages(MappedFile file, ColumnChunk chunk, Flat flat, long rows) {
        if (chunk.columnIndex().isEmpty() || chunk.offsetIndex().isEmpty()) {
            return null;
        }
        var rowsOfPages = LongStream.builder();
        ChunkPages.readIndex(file, chunk.offsetIndex(), (_, _, _, firstRow) -> rowsOfPages.add(firstRow));
        long[] firstRows = rowsOfPages.build().toArray();
        ColumnChunk.Range range = chunk.columnIndex();
        file.require(range.start(), range.byteSize());
        var in = new ThriftReader(file.location(), file.mapping(), range.start(), range.end());
        List<Boolean> areNull = List.of();
        List<byte[]> min = List.of();
        List<byte[]> max = List.of();
        long[] nulls = {};
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> areNull = in.booleans();
                case 2 -> min = binaries(in);
                case 3 -> max = binaries(in);
                case 5 -> {
                    nulls = new long[in.list(ThriftReader.I64)];
                    for (int i = 0; i < nulls.length; i++) {
                        nulls[i] = in.i64();
                    }
                }
                default -> in.skip();
            }
        }
        int pages = firstRows.length;
        if (areNull.size() != pages || min.size() != pages || max.size() != pages
                || nulls.length != 0 && nulls.length != pages) {
            throw new MalformedStoreException(file.location(), range.start(), chunk.name() + ": bounds of "
                    + areNull.size() + ", " + min.size() + " and " + max.size() + " pages", pages
                    + ", as the index of offsets has");
        }
        List<Bounds> bounds = new ArrayList<>(pages);
        for (int p = 0; p < pages; p++) {
            long end = p + 1 < pages ? firstRows[p + 1] : rows;
            long count = end - firstRows[p];
            if (count < 0 || firstRows[0] != 0) {
                throw new MalformedStoreException(file.location(), chunk.offsetIndex().start(), chunk.name()
                        + ": a page with row " + firstRows[p] + " first", "pages of " + rows + " rows in order");
            }
            bounds.add(areNull.get(p) ? new Bounds(null, null, count, count)
                    : bounds(min.get(p), max.get(p), nulls.length == 0 ? -1 : nulls[p], count, flat));
        }
        return new OfPages(bounds, firstRows);
    }

    private static List<byte[]> binaries(ThriftReader in) {
        List<byte[]> values = new ArrayList<>();
        for (int i = in.list(ThriftReader.BINARY); i > 0; i--) {
            values.add(in.binary());
        }
        return values;
    }

    private static Bounds bounds(byte @Nullable [] min, byte @Nullable [] max, long nulls, long rows, Flat flat) {
        Object least = min == null ? null : value(min, flat, false);
        Object greatest = max == null ? null : value(max, flat, true);
        return new Bounds(least, greatest, nulls < 0 || nulls > rows ? -1 : nulls, rows);
    }

    /** Returns a bound as filters compare it; null if it bounds nothing. */
    private static @Nullable Object value(byte[] plain, Flat flat, boolean isGreatest) {
        Leaf leaf = flat.leaf();
        if (flat.column().kind() != Column.Kind.NUMBERS) {
            return plain;
        }
        if (leaf.isBinary() || plain.length != leaf.storedBytes()) {
            return null;
        }
        MemorySegment bytes = MemorySegment.ofArray(plain);
        boolean isReal = flat.column().spec().dtype().isFloat();
        if (leaf.type().id() == ArrowType.Id.FLOAT) {
            double real = leaf.physical() == Physical.DOUBLE ? bytes.get(LittleEndian.F64, 0)
                    : bytes.get(LittleEndian.F32, 0);
            // As the format says: a NaN bounds nothing, and a zero may be one of the other sign, which is equal here.
            return Double.isNaN(real) || !isReal ? null : (Object) Double.valueOf(real);
        }
        long whole = switch (leaf.physical()) {
            case BOOLEAN -> plain[0] & 1;
            case INT32 -> leaf.type().isSigned() || leaf.type().id() != ArrowType.Id.INT
                    ? bytes.get(LittleEndian.I32, 0) : bytes.get(LittleEndian.I32, 0) & 0xFFFFFFFFL;
            default -> bytes.get(LittleEndian.I64, 0);
        };
        boolean isUnsigned = leaf.physical() == Physical.INT64 && flat.column().spec().dtype() == DType.U64;
        BigDecimal exact = isUnsigned ? new BigDecimal(Long.toUnsignedString(whole)) : BigDecimal.valueOf(whole);
        if (!isReal) {
            return exact;
        }
        // What is widened to floats is rounded: to the next one beyond, so that it stays a bound.
        float near = exact.floatValue();
        return (Object) Double.valueOf(isGreatest ? Math.nextUp(near) : Math.nextDown(near));
    }

    /** Returns the runs of rows of a group that may be among those of a page index; starts and ends in turns. */
    static long[] intersect(long[] runs, OfPages pages, boolean[] may, long rows) {
        long[] kept = new long[runs.length + 2 * may.length];
        int count = 0;
        for (int r = 0; r < runs.length; r += 2) {
            for (int p = 0; p < may.length; p++) {
                long from = Math.max(runs[r], pages.firstRows[p]);
                long end = Math.min(runs[r + 1], p + 1 < may.length ? pages.firstRows[p + 1] : rows);
                if (may[p] && from < end) {
                    if (count > 0 && kept[count - 1] == from) {
                        kept[count - 1] = end;
                    } else {
                        kept[count++] = from;
                        kept[count++] = end;
                    }
                }
            }
        }
        return Arrays.copyOf(kept, count);
    }
}
