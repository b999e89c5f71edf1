package io.penstock.format.arrow;

import io.penstock.format.arrow.ArrowBatch.Stored;
import io.penstock.format.arrow.ArrowShape.Slot;
import io.penstock.format.arrow.ArrowTree.Node;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the arrays of one column's tree are in one batch. What has a size that follows from the length of an array is
 * checked here; what values point at is when they are read.
 */
final class ArrowArrays {

    private static final int VIEW_BYTES = 16;

    private final ArrowTree tree;
    private final DecodedBuffers decoded;
    private final MappedFile file;
    private final long[] lengths;
    /** For each array the places and sizes of its buffers, the bitmap first: {@code ABSENT} if no value is null. */
    private final long[][] places;
    private final long[][] sizes;
    /** For each array of indices the dictionary that the batch was written with. */
    private final int[] versions;

    ArrowArrays(ArrowTree tree, ArrowBatch batch, DecodedBuffers decoded, List<ArrowDictionary> own)
            throws MalformedStoreException {
        this.tree = tree;
        this.decoded = decoded;
        this.file = batch.file();
        this.lengths = new long[tree.size()];
        this.places = new long[tree.size()][];
        this.sizes = new long[tree.size()][];
        this.versions = own.stream().mapToInt(ArrowDictionary::version).toArray();
        for (Node node : tree.above()) {
            add(batch, node, batch.rows());
        }
        add(batch, tree.root(), batch.rows());
        for (Node node : tree.above()) {
            checkRows(batch, node);
        }
        checkRows(batch, tree.root());
    }

    private void checkRows(ArrowBatch batch, Node node) throws MalformedStoreException {
        if (length(node) != batch.rows()) {
            throw batch.malformed("column '" + tree.name() + "' of " + length(node) + " values", batch.rows()
                    + ", one a row");
        }
    }

    MappedFile file() {
        return file;
    }

    long length(Node node) {
        return lengths[node.id()];
    }

    /** The version of the dictionary that is the n-th of the column. */
    int version(int dictionary) {
        return versions[dictionary];
    }

    /** The buffers of an array, which are decoded if they were not; its bitmap is null if no value is null. */
    MemorySegment[] segments(Node node) {
        MemorySegment[] segments = new MemorySegment[places[node.id()].length];
        for (int i = 0; i < segments.length; i++) {
            long place = places[node.id()][i];
            segments[i] = place == DecodedBuffers.ABSENT ? null
                    : decoded.segment(file, place, sizes[node.id()][i]);
        }
        return segments;
    }

    /** Adds an array, which has at least so many values. */
    private void add(ArrowBatch batch, Node node, long least) throws MalformedStoreException {
        long length = batch.length(node.node(), tree.name());
        if (length < least) {
            throw batch.malformed("column '" + tree.name() + "' of " + length + " values", "at least " + least);
        }
        lengths[node.id()] = length;
        List<Stored> stored = new ArrayList<>();
        boolean hasNulls = batch.nulls(node.node()) != 0 && batch.has(node.validity());
        stored.add(hasNulls ? buffer(batch, node.validity(), Math.ceilDiv(length, Byte.SIZE),
                batch.nulls(node.node()) < 0) : null);
        for (int i = 0; i < node.buffers().size(); i++) {
            stored.add(buffer(batch, node.buffers().get(i), needed(node, i, length), false));
        }
        if (node.values() == null && node.field() != null && isView(node)) {
            Slot views = node.buffers().getFirst();
            for (long i = 0; i < batch.dataBuffers(views.viewsBefore()); i++) {
                stored.add(buffer(batch, views.dataOfViews(i), 0, false));
            }
        }
        places[node.id()] = stored.stream().mapToLong(part -> part == null || part == stored.getFirst()
                && part.size() == 0 ? DecodedBuffers.ABSENT : decoded.place(batch, part, -1)).toArray();
        sizes[node.id()] = stored.stream().mapToLong(part -> part == null ? 0 : part.size()).toArray();
        for (Node child : node.children()) {
            add(batch, child, leastOfChild(node, length));
        }
    }

    /** How many values a child must have, where that follows from the number of its parent's. */
    private static long leastOfChild(Node node, long length) {
        ArrowType type = node.field().type();
        return switch (type.id()) {
            case STRUCT -> length;
            case UNION -> type.isDense() ? 0 : length;
            case FIXED_SIZE_LIST -> type.size() > 0 && length > Long.MAX_VALUE / type.size() ? Long.MAX_VALUE
                    : length * type.size();
            default -> 0;
        };
    }

    private static boolean isView(Node node) {
        return switch (node.field().type().id()) {
            case BINARY_VIEW, UTF8_VIEW -> true;
            default -> false;
        };
    }

    /** A buffer that is large enough; one that may be left out is, if it is empty. */
    private Stored buffer(ArrowBatch batch, Slot slot, long needed, boolean isOptional)
            throws MalformedStoreException {
        Stored stored = batch.buffer(slot, tree.name());
        if (stored.size() < needed && !(isOptional && stored.size() == 0)) {
            throw new MalformedStoreException(file.location(), stored.offset(), "column '" + tree.name()
                    + "': a buffer of "
                    + stored.size() + " bytes", "at least " + needed);
        }
        return stored;
    }

    /** The bytes that one of the buffers behind the bitmap must have; it may have any where its values say. */
    private static long needed(Node node, int buffer, long length) {
        ArrowType type = node.field().type();
        long wide = type.isLarge() ? Long.BYTES : Integer.BYTES;
        long bytes = node.values() != null ? node.field().dictionary().index().bits() / Byte.SIZE
                : switch (type.id()) {
            case BOOL -> 0;
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8, LIST, LARGE_LIST, MAP, LIST_VIEW, LARGE_LIST_VIEW -> wide;
            case BINARY_VIEW, UTF8_VIEW -> VIEW_BYTES;
            case UNION -> buffer == 0 ? Byte.BYTES : Integer.BYTES;
            default -> type.valueBytes();
        };
        if (bytes > 0 && length > Long.MAX_VALUE / bytes - 1) {
            return Long.MAX_VALUE;
        }
        if (node.values() != null) {
            return bytes * length;
        }
        return switch (type.id()) {
            case BOOL -> Math.ceilDiv(length, Byte.SIZE);
            case LIST, LARGE_LIST, MAP -> length == 0 ? 0 : bytes * (length + 1);
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8 -> buffer > 0 || length == 0 ? 0 : bytes * (length + 1);
            default -> bytes * length;
        };
    }
}
