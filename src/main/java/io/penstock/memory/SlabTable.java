package io.penstock.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The offset table of one batch: each field's shape as it is in this batch, and where in the slab the field starts.
 *
 * <p>Mutable and reused: a slot has one, the collator sets the shapes, {@link #layOut} derives the offsets. One thread
 * writes at a time; whoever hands the slot on hands the table on.
 */
public final class SlabTable {

    private final SlabLayout layout;
    private final long[][] shapes;
    private final long[] offsets;
    private final long[] maxBytes;
    /** Copies of the shapes for views, which never change once they are made. */
    private final long[][] viewShapes;
    private long usedBytes;

    /**
     * A table in which every field has its greatest shape, or no row if that is beyond the bound of its bytes.
     *
     * @param layout the fields
     */
    public SlabTable(SlabLayout layout) {
        this.layout = layout;
        this.shapes = new long[layout.fields().size()][];
        this.offsets = new long[shapes.length];
        this.maxBytes = new long[shapes.length];
        this.viewShapes = new long[shapes.length][];
        for (int f = 0; f < shapes.length; f++) {
            shapes[f] = layout.fields().get(f).shape();
            maxBytes[f] = layout.maxBytes().get(f);
            if (layout.fields().get(f).byteSize() > maxBytes[f]) {
                shapes[f][0] = 0;
            }
        }
        layOut();
    }

    /**
     * The fields and their greatest shapes.
     *
     * @return the layout
     */
    public SlabLayout layout() {
        return layout;
    }

    /**
     * Sets one dimension of one field for the batch at hand; {@link #layOut} must follow.
     *
     * @param field the field's index
     * @param d the dimension's index
     * @param size its size, at most that of the layout
     * @throws IllegalArgumentException if the size is negative or greater than the layout's
     */
    public void setDim(int field, int d, long size) {
        TensorSpec spec = layout.fields().get(field);
        if (size < 0 || size > spec.dim(d)) {
            throw new IllegalArgumentException(spec + ": dimension " + d + " set to " + size);
        }
        shapes[field][d] = size;
    }

    /**
     * Derives offsets and {@link #usedBytes} from the shapes.
     *
     * @throws IllegalStateException if a field has more bytes than it may have; names it
     */
    public void layOut() {
        long end = 0;
        for (int f = 0; f < shapes.length; f++) {
            long bytes = byteSize(f);
            if (bytes > maxBytes[f]) {
                throw new IllegalStateException(layout.fields().get(f).name() + ": the batch has the shape "
                        + Arrays.toString(shapes[f]) + ", " + bytes + " bytes, expected at most " + maxBytes[f]);
            }
            offsets[f] = SlabLayout.align(end);
            end = offsets[f] + bytes;
        }
        usedBytes = end;
    }

    /**
     * Takes over where the fields start, for memory in which they do not follow each other, and derives
     * {@link #usedBytes} from the shapes: the greatest end of a field.
     *
     * @param starts for each field, an offset into the slab; copied
     */
    public void layOut(long[] starts) {
        usedBytes = 0;
        for (int f = 0; f < shapes.length; f++) {
            offsets[f] = starts[f];
            usedBytes = Math.max(usedBytes, starts[f] + byteSize(f));
        }
    }

    /**
     * Where a field starts.
     *
     * @param field the field's index
     * @return bytes from the slab's start
     */
    public long offset(int field) {
        return offsets[field];
    }

    /**
     * One dimension of a field in this batch.
     *
     * @param field the field's index
     * @param d the dimension's index
     * @return its size
     */
    public long dim(int field, int d) {
        return shapes[field][d];
    }

    /**
     * A field's shape in this batch.
     *
     * @param field the field's index
     * @return a copy
     */
    public long[] shape(int field) {
        return shapes[field].clone();
    }

    /**
     * A field's bytes in this batch.
     *
     * @param field the field's index
     * @return the byte size
     */
    public long byteSize(int field) {
        long bytes = layout.fields().get(field).dtype().byteSize();
        for (long dim : shapes[field]) {
            bytes *= dim;
        }
        return bytes;
    }

    /**
     * Bytes from the slab's start to the end of its last field: what a copy must move.
     *
     * @return the byte size
     */
    public long usedBytes() {
        return usedBytes;
    }

    /**
     * A field as a tensor.
     *
     * @param field the field's index
     * @param slab the slab's memory
     * @return a view of it
     */
    public Tensor tensor(int field, MemorySegment slab) {
        return Tensor.view(slab.asSlice(offsets[field], byteSize(field)), layout.fields().get(field).dtype(),
                viewShape(field));
    }

    /** The shape of the last view if it is still the field's; any thread may ask. */
    private long[] viewShape(int field) {
        long[] last = viewShapes[field];
        if (last == null || !Arrays.equals(last, shapes[field])) {
            last = shapes[field].clone();
            viewShapes[field] = last;
        }
        return last;
    }

    /**
     * A field as a tensor whose memory dies with a scope of its own, however long the slab's lives.
     *
     * @param field the field's index
     * @param start the slab's memory from the field's offset on
     * @param scope what ends the view's life
     * @return a view of it
     */
    @SuppressWarnings("restricted")
    public Tensor tensor(int field, MemorySegment start, Arena scope) {
        return Tensor.view(start.reinterpret(byteSize(field), scope, null), layout.fields().get(field).dtype(),
                viewShape(field));
    }
}
