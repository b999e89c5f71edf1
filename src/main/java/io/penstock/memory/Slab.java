// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * One block of native memory that holds all fields of a batch, with each field's current shape and offset. It is a
 * view: whoever allocated the memory frees it.
 *
 * <p>Mutable and reused: each slot of a loader has one, the collator sets the shapes, and {@link #layOut} computes the
 * offsets. One thread writes at a time; a slab is handed over with its slot.
 */
public final class Slab {

    private final SlabLayout layout;
    private final MemorySegment segment;
    private final long[][] shapes;
    private final long[] offsets;
    private final long[] maxBytes;
    /** Immutable copies of the shapes, for views. */
    private final long[][] viewShapes;
    private long usedBytes;

    /**
     * A slab over memory of the layout's capacity. Every field has its greatest shape, or 0 rows if that exceeds the
     * field's byte limit.
     *
     * @param layout the fields
     * @param segment at least {@link SlabLayout#capacityBytes} bytes
     * @throws IllegalArgumentException if the memory is too small
     */
    public Slab(SlabLayout layout, MemorySegment segment) {
        this(layout, segment, layout.capacityBytes());
    }

    private Slab(SlabLayout layout, MemorySegment segment, long leastBytes) {
        if (segment.byteSize() < leastBytes) {
            throw new IllegalArgumentException("the slab needs " + leastBytes + " bytes, the segment has "
                    + segment.byteSize());
        }
        this.layout = layout;
        this.segment = segment;
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
     * A slab in memory that the CPU cannot read.
     *
     * @param layout the fields
     * @param address where the memory starts on its device, at least {@link SlabLayout#capacityBytes} bytes
     * @return the slab, whose segment has that address and no bytes
     */
    public static Slab onDevice(SlabLayout layout, long address) {
        return new Slab(layout, MemorySegment.ofAddress(address), 0);
    }

    /** {@return the fields and their greatest shapes} */
    public SlabLayout layout() {
        return layout;
    }

    /** {@return the whole block; field {@code f} starts at {@code offset(f)}} */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Sets one dimension of a field for the current batch; call {@link #layOut} afterwards.
     *
     * @param field the field's index
     * @param d the dimension's index
     * @param size the dimension's size, at most that of the layout
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
     * Computes offsets and {@link #usedBytes} from the shapes.
     *
     * @throws IllegalStateException if a field exceeds its byte limit; names the field
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
     * Sets where the fields start, for memory in which they do not follow each other, and computes {@link #usedBytes}:
     * the greatest end of a field.
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
     * The offset of a field.
     *
     * @param field the field's index
     * @return the bytes from the slab's start
     */
    public long offset(int field) {
        return offsets[field];
    }

    /**
     * {@return one dimension of a field in the current batch}
     *
     * @param field the field's index
     * @param d the dimension's index
     */
    public long dim(int field, int d) {
        return shapes[field][d];
    }

    /**
     * {@return a copy of a field's shape in the current batch}
     *
     * @param field the field's index
     */
    public long[] shape(int field) {
        return shapes[field].clone();
    }

    /**
     * {@return a field's byte size in the current batch}
     *
     * @param field the field's index
     */
    public long byteSize(int field) {
        long bytes = layout.fields().get(field).dtype().byteSize();
        for (long dim : shapes[field]) {
            bytes *= dim;
        }
        return bytes;
    }

    /** {@return the bytes from the slab's start to the end of its last field: the amount to copy} */
    public long usedBytes() {
        return usedBytes;
    }

    /**
     * A field as a tensor. Allocates.
     *
     * @param field the field's index
     * @return a view of the slab's memory
     */
    public Tensor tensor(int field) {
        return Tensor.view(segment.asSlice(offsets[field], byteSize(field)), layout.fields().get(field).dtype(),
                viewShape(field));
    }

    /**
     * {@return a field as a tensor whose memory has its own lifetime}
     *
     * @param field the field's index
     * @param start the slab's memory, or a copy of it, from the field's offset on
     * @param scope the arena that ends the view's lifetime
     */
    @SuppressWarnings("restricted")
    public Tensor tensor(int field, MemorySegment start, Arena scope) {
        return Tensor.view(start.reinterpret(byteSize(field), scope, null), layout.fields().get(field).dtype(),
                viewShape(field));
    }

    /** Returns the last view's shape if it is still current; thread-safe. */
    private long[] viewShape(int field) {
        long[] last = viewShapes[field];
        if (last == null || !Arrays.equals(last, shapes[field])) {
            last = shapes[field].clone();
            viewShapes[field] = last;
        }
        return last;
    }
}
