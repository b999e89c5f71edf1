package io.penstock.memory;

import java.lang.foreign.MemorySegment;

/**
 * One block of native memory that holds all fields of a batch, and the table of their positions. It is a view: whoever
 * allocated the memory frees it.
 */
public final class Slab {

    private final MemorySegment segment;
    private final SlabTable table;

    /**
     * A slab over memory of the layout's capacity.
     *
     * @param layout the fields
     * @param segment at least {@link SlabLayout#capacityBytes} bytes
     * @throws IllegalArgumentException if the memory is too small
     */
    public Slab(SlabLayout layout, MemorySegment segment) {
        if (segment.byteSize() < layout.capacityBytes()) {
            throw new IllegalArgumentException("the slab needs " + layout.capacityBytes() + " bytes, the segment has "
                    + segment.byteSize());
        }
        this.segment = segment;
        this.table = new SlabTable(layout);
    }

    /** {@return the whole block; field {@code f} starts at {@code table().offset(f)}} */
    public MemorySegment segment() {
        return segment;
    }

    /** {@return the shapes and offsets of the current batch} */
    public SlabTable table() {
        return table;
    }

    /**
     * A field as a tensor. Allocates, so use it for tests and inspection.
     *
     * @param field the field's index
     * @return a view of the slab's memory
     */
    public Tensor tensor(int field) {
        return table.tensor(field, segment);
    }
}
