package io.penstock.memory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The fields of a batch, the greatest shape of each, and the most bytes: what a {@link Slab} must have room for.
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
 * <p>A field's bytes may be bounded below those of its greatest shape: where a batch has few long samples or many short
 * ones, it never has many long ones.
 *
 * @param fields the fields with their greatest shapes; no dimension is variable, no two names are equal
 * @param maxBytes the most bytes of each field, at most those of its greatest shape
 */
public record SlabLayout(List<TensorSpec> fields, List<Long> maxBytes) {

    /** Where a field may start: what GPU loads and DLPack consumers want. */
    public static final long ALIGNMENT_BYTES = 256;

    /**
     * Checks and copies.
     *
     * @throws IllegalArgumentException if there is no field, a dimension is variable, a name comes twice, or a bound is
     *     not one
     */
    public SlabLayout {
        fields = List.copyOf(fields);
        maxBytes = List.copyOf(maxBytes);
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
        if (maxBytes.size() != fields.size()) {
            throw new IllegalArgumentException(maxBytes.size() + " bounds of " + fields.size() + " fields");
        }
        for (int f = 0; f < fields.size(); f++) {
            if (maxBytes.get(f) < 0 || maxBytes.get(f) > fields.get(f).byteSize()
                    || fields.get(f).rank() == 0 && maxBytes.get(f) < fields.get(f).byteSize()) {
                throw new IllegalArgumentException(fields.get(f) + ": bounded to " + maxBytes.get(f)
                        + " bytes, expected 0 to " + fields.get(f).byteSize());
            }
        }
    }

    /**
     * A layout in which every field may have its greatest shape.
     *
     * @param fields the fields with their greatest shapes
     * @throws IllegalArgumentException if there is no field, a dimension is variable, or a name comes twice
     */
    public SlabLayout(List<TensorSpec> fields) {
        this(fields, fields.stream().map(field -> field.isVariable() ? 0 : field.byteSize()).toList());
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
     * The same fields, of which one has no more than so many bytes in any batch.
     *
     * @param field the field's index
     * @param bytes the most bytes; what is beyond its greatest shape changes nothing
     * @return the layout
     * @throws IllegalArgumentException if the bound is negative
     */
    public SlabLayout bounded(int field, long bytes) {
        List<Long> bounds = new ArrayList<>(maxBytes);
        bounds.set(field, Math.min(bytes, fields.get(field).byteSize()));
        return new SlabLayout(fields, bounds);
    }

    /**
     * Bytes of a slab in which every field has the most bytes that it may have.
     *
     * @return the capacity, a multiple of {@value #ALIGNMENT_BYTES}
     */
    public long capacityBytes() {
        long bytes = 0;
        for (long fieldBytes : maxBytes) {
            bytes = align(Math.addExact(bytes, fieldBytes));
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

    /**
     * Where a field may start that does not start before an offset.
     *
     * @param bytes the offset, in bytes
     * @return the first multiple of {@value #ALIGNMENT_BYTES} that is not below it
     */
    public static long align(long bytes) {
        return Math.addExact(bytes, ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
    }
}
