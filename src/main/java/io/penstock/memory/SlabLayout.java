package io.penstock.memory;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The fields of a batch and the greatest shape of each: what a {@link Slab} must have room for.
 *
 * <p>A slab holds all fields of one batch in one block, in the order of this list, so that one copy moves them all.
 * Each field starts at the first multiple of {@value #ALIGNMENT_BYTES} bytes behind the field before it:
 *
 * <pre>
 *   0                         align(bytes 0)               align(… + bytes 1)
 *   | field 0, its shape now | field 1, its shape now     | …                  | used bytes
 * </pre>
 *
 * <p>The offsets follow from the shapes of the batch at hand: a batch padded to a shorter length is a shorter slab.
 * The bytes between a field's end and the next field's start have no meaning.
 *
 * @param fields the fields with their greatest shapes; no dimension is variable, no two names are equal
 */
public record SlabLayout(List<TensorSpec> fields) {

    /** Where a field may start: what GPU loads and DLPack consumers want. */
    public static final long ALIGNMENT_BYTES = 256;

    /**
     * Checks and copies.
     *
     * @throws IllegalArgumentException if there is no field, a dimension is variable, or a name comes twice
     */
    public SlabLayout {
        fields = List.copyOf(fields);
        if (fields.isEmpty()) {
            throw new IllegalArgumentException("a batch needs at least one field");
        }
        Set<String> names = new HashSet<>();
        for (TensorSpec field : fields) {
            if (field.isVariable()) {
                throw new IllegalArgumentException(field + ": a slab needs the greatest length");
            }
            if (!names.add(field.name())) {
                throw new IllegalArgumentException("two fields are named '" + field.name() + "'");
            }
        }
    }

    /**
     * A layout of the given fields.
     *
     * @param fields the fields with their greatest shapes
     * @return the layout
     */
    public static SlabLayout of(TensorSpec... fields) {
        return new SlabLayout(List.of(fields));
    }

    /**
     * Bytes of a slab in which every field has its greatest shape.
     *
     * @return the capacity, a multiple of {@value #ALIGNMENT_BYTES}
     */
    public long capacityBytes() {
        long bytes = 0;
        for (TensorSpec field : fields) {
            bytes = align(Math.addExact(bytes, field.byteSize()));
        }
        return bytes;
    }

    /**
     * A field's position in the list.
     *
     * @param name the field's name
     * @return its index
     * @throws IllegalArgumentException if there is none of that name; lists those that are
     */
    public int indexOf(String name) {
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(name)) {
                return f;
            }
        }
        throw new IllegalArgumentException("no field '" + name + "', the batch has "
                + fields.stream().map(TensorSpec::name).toList());
    }

    /** The first multiple of the alignment that is not below {@code bytes}. */
    static long align(long bytes) {
        return Math.addExact(bytes, ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
    }
}
