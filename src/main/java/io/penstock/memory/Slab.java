package io.penstock.memory;

import java.lang.foreign.MemorySegment;

/**
 * One block of native memory that holds all fields of a batch, and the table that says where each is. A view: whoever
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

    /**
     * The memory; field {@code f} starts at {@code table().offset(f)}.
     *
     * @return the whole block
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Shapes and offsets of the batch at hand.
     *
     * @return the table
     */
    public SlabTable table() {
        return table;
    }

    /**
     * A field as a tensor. Allocates: for tests and inspection.
     *
     * @param field the field's index
     * @return a view of the slab's memory
     */
    public Tensor tensor(int field) {
        return table.tensor(field, segment);
    }
}
