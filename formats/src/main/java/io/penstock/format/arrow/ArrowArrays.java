// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static io.penstock.format.arrow.DecodedBuffers.ABSENT;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.arrow.ArrowBatch.Stored;
import io.penstock.format.arrow.ArrowNode.Slot;
import io.penstock.format.arrow.DecodedBuffers.Conversion;
import io.penstock.format.table.UnitedColumns;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The buffers of one column's arrays, batch by batch. Buffer sizes that follow from an array's length are checked here;
 * offsets and indices are checked when they are read.
 */
final class ArrowArrays {

    private final ArrowShape shape;
    private final DecodedBuffers decoded;
    private final MappedFile file;
    private final @Nullable DType dtype;
    private final long[] lengths;
    /** For each array, the place and size of its buffers, the bitmap first: {@code ABSENT} if no value is null. */
    private final long[][] places;
    private final long[][] sizes;
    /** For each array of indices, the version of its dictionary. */
    private final int[] versions;

    /**
     * Collects the arrays of a batch. Booleans become bytes, and narrower numbers those of {@code dtype}; null leaves
     * all as they are stored.
     */
    ArrowArrays(ArrowShape shape, ArrowBatch batch, DecodedBuffers decoded,
            List<? extends ArrowDictionary<?>> dictionaries, @Nullable DType dtype) {
        this.shape = shape;
        this.decoded = decoded;
        this.file = batch.file();
        this.dtype = dtype;
        this.lengths = new long[shape.size()];
        this.places = new long[shape.size()][];
        this.sizes = new long[shape.size()][];
        this.versions = new int[dictionaries.size()];
        Arrays.setAll(versions, d -> dictionaries.get(d).version());
        for (ArrowNode node : shape.path()) {
            add(batch, node, batch.rows());
            if (length(node) != batch.rows()) {
                throw batch.malformed("column '" + shape.name() + "' of " + length(node) + " values", batch.rows()
                        + ", one a row");
            }
        }
    }

    MappedFile file() {
        return file;
    }

    long length(ArrowNode node) {
        return lengths[node.id()];
    }

    /** Returns the number of an array's buffers, bitmap included. */
    int buffers(ArrowNode node) {
        return places[node.id()].length;
    }

    /** Returns the place of a buffer. Buffer 0 is the bitmap, absent if no value is null. */
    long place(ArrowNode node, int buffer) {
        return places[node.id()][buffer];
    }

    long byteSize(ArrowNode node, int buffer) {
        return sizes[node.id()][buffer];
    }

    /** Returns the version of the column's n-th dictionary. */
    int version(int dictionary) {
        return versions[dictionary];
    }

    /** Returns an array's buffers, decoding them if needed. The bitmap is empty if no value is null. */
    MemorySegment[] segments(ArrowNode node) {
        MemorySegment[] segments = new MemorySegment[buffers(node)];
        for (int i = 0; i < segments.length; i++) {
            segments[i] = place(node, i) == ABSENT ? MemorySegment.NULL
                    : decoded.segment(file, place(node, i), byteSize(node, i));
        }
        return segments;
    }

    /** Adds an array of at least {@code least} values. */
    private void add(ArrowBatch batch, ArrowNode node, long least) {
        long length = batch.length(node.position(), shape.name());
        long nulls = batch.nulls(node.position());
        if (length < least) {
            throw batch.malformed("column '" + shape.name() + "' of " + length + " values", "at least " + least);
        }
        List<Slot> own = node.buffers();
        int views = node.type().isView() ? batch.dataBuffers(own.getFirst().viewsBefore()) : 0;
        lengths[node.id()] = length;
        places[node.id()] = new long[1 + own.size() + views];
        sizes[node.id()] = new long[1 + own.size() + views];
        places[node.id()][0] = ABSENT;
        Slot validity = node.validity();
        if (validity != null && nulls != 0 && batch.has(validity)) {
            Stored bitmap = buffer(batch, validity, Math.ceilDiv(length, Byte.SIZE), nulls < 0);
            if (bitmap.size() > 0) {
                put(batch, node, 0, bitmap, null, -1);
            }
        }
        DType stored = dtype == null || node.values() != null ? null : node.type().dtype();
        for (int i = 0; i < own.size(); i++) {
            Stored buffer = buffer(batch, own.get(i), needed(node.type(), i, length), false);
            if (stored == DType.BOOL) {
                put(batch, node, 1 + i, buffer, Conversion.BITS, length);
            } else if (stored == null || dtype == null || stored == dtype) {
                put(batch, node, 1 + i, buffer, null, -1);
            } else {
                put(batch, node, 1 + i, buffer, widening(stored, dtype, length), product(dtype.byteSize(), length));
            }
        }
        for (int i = 0; i < views; i++) {
            put(batch, node, 1 + own.size() + i, buffer(batch, own.getFirst().dataOfViews(i), 0, false), null, -1);
        }
        for (ArrowNode child : node.children()) {
            add(batch, child, switch (node.type().id()) {
                case STRUCT -> length;
                case UNION -> node.type().isDense() ? 0 : length;
                case FIXED_SIZE_LIST -> product(node.type().size(), length);
                default -> 0;
            });
        }
    }

    private static Conversion widening(DType stored, DType wider, long count) {
        return (from, into) -> UnitedColumns.widen(from, stored, stored.byteSize(), into, wider, count);
    }

    private void put(ArrowBatch batch, ArrowNode node, int buffer, Stored stored, @Nullable Conversion conversion,
            long bytes) {
        places[node.id()][buffer] = decoded.place(batch, stored, conversion, bytes);
        sizes[node.id()][buffer] = stored.size();
    }

    /** Returns a buffer that is large enough; an optional one may be empty. */
    private Stored buffer(ArrowBatch batch, Slot slot, long needed, boolean isOptional) {
        Stored stored = batch.buffer(slot, shape.name());
        if (stored.size() < needed && !(isOptional && stored.size() == 0)) {
            throw new MalformedStoreException(file.location(), stored.offset(), "column '" + shape.name()
                    + "': a buffer of " + stored.size() + " bytes", "at least " + needed);
        }
        return stored;
    }

    /** Returns the least size of a buffer behind the bitmap; 0 if the values determine it. */
    private static long needed(ArrowType type, int buffer, long length) {
        return switch (type.id()) {
            case BOOL -> Math.ceilDiv(length, Byte.SIZE);
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8, LIST, LARGE_LIST, MAP -> buffer > 0 || length == 0 ? 0
                    : product(type.offsetBytes(), length + 1);
            case LIST_VIEW, LARGE_LIST_VIEW -> product(type.offsetBytes(), length);
            case BINARY_VIEW, UTF8_VIEW -> product(ArrowType.VIEW_BYTES, length);
            case UNION -> product(buffer == 0 ? Byte.BYTES : Integer.BYTES, length);
            default -> product(type.valueBytes(), length);
        };
    }

    /** Returns the size of values, saturated at {@link Long#MAX_VALUE}. */
    private static long product(long bytes, long values) {
        return values < 0 || bytes > 0 && values > Long.MAX_VALUE / bytes ? Long.MAX_VALUE : bytes * values;
    }
}
