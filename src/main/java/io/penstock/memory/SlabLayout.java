// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The fields of a batch with their greatest shapes and sizes, which a {@link Slab} must have room for.
 *
 * <p>A slab holds all fields of a batch in one block, in the order of this list, so one copy transfers them all. Each
 * field starts at the first multiple of {@value #ALIGNMENT_BYTES} bytes after the previous field:
 *
 * <pre>
 *   0                         align(bytes 0)               align(… + bytes 1)
 *   | field 0, its shape now | field 1, its shape now     | …                  | used bytes
 * </pre>
 *
 * <p>Offsets follow from the current batch's shapes: a batch padded to a shorter length uses less of the slab. The gap
 * bytes between fields are undefined.
 *
 * <p>A field's limit may be less than its greatest shape: a batch may hold few long samples or many short ones, but
 * never many long ones.
 *
 * @param fields the fields with their greatest shapes; no variable dimension, no duplicate names
 * @param maxBytes the most bytes of each field, at most those of its greatest shape
 */
public record SlabLayout(List<TensorSpec> fields, List<Long> maxBytes) {

    /** The alignment of fields, for GPU loads and DLPack consumers. */
    public static final long ALIGNMENT_BYTES = 256;

    /**
     * Checks and copies.
     *
     * @throws IllegalArgumentException if there is no field, a dimension is variable, a name is duplicated, or a limit
     *     is outside its range
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
     * A layout in which every field can reach its greatest shape.
     *
     * @param fields the fields with their greatest shapes
     * @throws IllegalArgumentException if there is no field, a dimension is variable, or a name is duplicated
     */
    public SlabLayout(List<TensorSpec> fields) {
        this(fields, fields.stream().map(field -> field.isVariable() ? 0 : field.byteSize()).toList());
    }

    /**
     * {@return a layout of the given fields}
     *
     * @param fields the fields with their greatest shapes
     */
    public static SlabLayout of(TensorSpec... fields) {
        return new SlabLayout(List.of(fields));
    }

    /**
     * {@return this layout, with a limit on one field's bytes}
     *
     * @param field the field's index
     * @param bytes the most bytes of the field in any batch; capped at those of its greatest shape
     * @throws IllegalArgumentException if the limit is negative
     */
    public SlabLayout bounded(int field, long bytes) {
        List<Long> bounds = new ArrayList<>(maxBytes);
        bounds.set(field, Math.min(bytes, fields.get(field).byteSize()));
        return new SlabLayout(fields, bounds);
    }

    /**
     * {@return the bytes of a slab in which every field has its most bytes; a multiple of {@value #ALIGNMENT_BYTES}}
     */
    public long capacityBytes() {
        long bytes = 0;
        for (long fieldBytes : maxBytes) {
            bytes = align(Math.addExact(bytes, fieldBytes));
        }
        return bytes;
    }

    /**
     * {@return a field's index}
     *
     * @param name the field's name
     * @throws IllegalArgumentException if no field has that name; lists the fields
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
     * Rounds up to a multiple of the alignment.
     *
     * @param bytes an offset, in bytes
     * @return the first multiple of {@value #ALIGNMENT_BYTES} that is not below it
     */
    public static long align(long bytes) {
        return Math.addExact(bytes, ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
    }
}
