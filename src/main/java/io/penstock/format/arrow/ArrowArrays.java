// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static io.penstock.format.arrow.DecodedBuffers.ABSENT;

import io.penstock.format.arrow.ArrowBatch.Stored;
import io.penstock.format.arrow.ArrowNode.Slot;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Where the arrays of one column are in one batch. What has a size that follows from the length of an array is checked
 * here; what values point at is when they are read.
 */
final class ArrowArrays {

    private static final int VIEW_BYTES = 16;

    private final ArrowShape shape;
    private final DecodedBuffers decoded;
    private final MappedFile file;
    private final boolean bitsAsBytes;
    private final long[] lengths;
    /** For each array the places and sizes of its buffers, the bitmap first: {@code ABSENT} if no value is null. */
    private final long[][] places;
    private final long[][] sizes;
    /** For each array of indices the dictionary that the batch was written with. */
    private final int[] versions;

    /**
     * The arrays of a batch.
     *
     * @param dictionaries the column's own, as they are when the batch comes
     * @param bitsAsBytes whether truth values are given as bytes, not as they are stored
     */
    ArrowArrays(ArrowShape shape, ArrowBatch batch, DecodedBuffers decoded,
            List<? extends ArrowDictionary<?>> dictionaries, boolean bitsAsBytes) throws MalformedStoreException {
        this.shape = shape;
        this.decoded = decoded;
        this.file = batch.file();
        this.bitsAsBytes = bitsAsBytes;
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

    /** How many buffers an array has, its bitmap included. */
    int buffers(ArrowNode node) {
        return places[node.id()].length;
    }

    /** The place of a buffer of an array; 0 is its bitmap, which is absent if no value is null. */
    long place(ArrowNode node, int buffer) {
        return places[node.id()][buffer];
    }

    /** The size of a buffer of an array. */
    long byteSize(ArrowNode node, int buffer) {
        return sizes[node.id()][buffer];
    }

    /** The version of the dictionary that is the n-th of the column. */
    int version(int dictionary) {
        return versions[dictionary];
    }

    /** The buffers of an array, which are decoded if they were not; its bitmap is empty if no value is null. */
    MemorySegment[] segments(ArrowNode node) {
        MemorySegment[] segments = new MemorySegment[buffers(node)];
        for (int i = 0; i < segments.length; i++) {
            segments[i] = place(node, i) == ABSENT ? MemorySegment.NULL
                    : decoded.segment(file, place(node, i), byteSize(node, i));
        }
        return segments;
    }

    /** Adds an array, which has at least so many values. */
    private void add(ArrowBatch batch, ArrowNode node, long least) throws MalformedStoreException {
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
                put(batch, node, 0, bitmap, -1);
            }
        }
        long bits = bitsAsBytes && node.type().id() == ArrowType.Id.BOOL ? length : -1;
        for (int i = 0; i < own.size(); i++) {
            put(batch, node, 1 + i, buffer(batch, own.get(i), needed(node.type(), i, length), false), bits);
        }
        for (int i = 0; i < views; i++) {
            put(batch, node, 1 + own.size() + i, buffer(batch, own.getFirst().dataOfViews(i), 0, false), -1);
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

    private void put(ArrowBatch batch, ArrowNode node, int buffer, Stored stored, long bits) {
        places[node.id()][buffer] = decoded.place(batch, stored, bits);
        sizes[node.id()][buffer] = stored.size();
    }

    /** A buffer that is large enough; one that may be left out is, if it is empty. */
    private Stored buffer(ArrowBatch batch, Slot slot, long needed, boolean isOptional)
            throws MalformedStoreException {
        Stored stored = batch.buffer(slot, shape.name());
        if (stored.size() < needed && !(isOptional && stored.size() == 0)) {
            throw new MalformedStoreException(file.location(), stored.offset(), "column '" + shape.name()
                    + "': a buffer of " + stored.size() + " bytes", "at least " + needed);
        }
        return stored;
    }

    /** The bytes that one of the buffers behind the bitmap must have; it may have any where its values say. */
    private static long needed(ArrowType type, int buffer, long length) {
        return switch (type.id()) {
            case BOOL -> Math.ceilDiv(length, Byte.SIZE);
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8, LIST, LARGE_LIST, MAP -> buffer > 0 || length == 0 ? 0
                    : product(type.offsetBytes(), length + 1);
            case LIST_VIEW, LARGE_LIST_VIEW -> product(type.offsetBytes(), length);
            case BINARY_VIEW, UTF8_VIEW -> product(VIEW_BYTES, length);
            case UNION -> product(buffer == 0 ? Byte.BYTES : Integer.BYTES, length);
            default -> product(type.valueBytes(), length);
        };
    }

    /** The bytes of so many values; the most there are if a {@code long} cannot count the values or their bytes. */
    private static long product(long bytes, long values) {
        return values < 0 || bytes > 0 && values > Long.MAX_VALUE / bytes ? Long.MAX_VALUE : bytes * values;
    }
}
