// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/** A growable list of token ids that can be reused. For one thread at a time. */
public final class TokenBuffer {

    private static final int MAX_LENGTH = Integer.MAX_VALUE - 8;

    private int[] ids = new int[1024];
    private int size;

    /** Creates an empty buffer. */
    public TokenBuffer() {
    }

    /** {@return the number of ids in it} */
    public int size() {
        return size;
    }

    /**
     * {@return an id}
     *
     * @param index its index
     * @throws IndexOutOfBoundsException if there is no such index
     */
    public int get(int index) {
        return ids[Objects.checkIndex(index, size)];
    }

    /**
     * Appends an id.
     *
     * @param id the id
     */
    public void append(int id) {
        reserve(size, 1)[size++] = id;
    }

    /** Removes all ids, and keeps the memory. */
    public void clear() {
        size = 0;
    }

    /**
     * Removes the last ids.
     *
     * @param count how many to keep
     * @throws IndexOutOfBoundsException if there are fewer
     */
    public void truncate(int count) {
        size = Objects.checkFromToIndex(0, count, size) + count;
    }

    /**
     * Replaces ids by their complements, {@code ~id}: tokens that are not trained on.
     *
     * @param from the first of them
     * @param end the index behind the last
     * @throws IndexOutOfBoundsException if there are no such ids
     */
    public void complement(int from, int end) {
        Objects.checkFromToIndex(from, end, size);
        for (int i = from; i < end; i++) {
            ids[i] = ~ids[i];
        }
    }

    /** {@return a copy of the ids} */
    public int[] toArray() {
        return Arrays.copyOf(ids, size);
    }

    /**
     * Copies the ids to memory as a store has them: little-endian, from the first byte. Of an id that does not fit the
     * type, the low bits are copied.
     *
     * @param target holds at least as many numbers of the type
     * @param dtype an integer type of 1, 2 or 4 bytes
     * @throws IndexOutOfBoundsException if the memory is too small
     * @throws IllegalArgumentException if it is another type
     */
    public void copyTo(MemorySegment target, DType dtype) {
        int[] from = ids;
        int count = size;
        switch (dtype.isInteger() ? dtype.byteSize() : 0) {
            case 1 -> {
                for (int i = 0; i < count; i++) {
                    target.set(JAVA_BYTE, i, (byte) from[i]);
                }
            }
            case 2 -> {
                for (int i = 0; i < count; i++) {
                    target.set(LittleEndian.I16, 2L * i, (short) from[i]);
                }
            }
            case 4 -> MemorySegment.copy(from, 0, target, LittleEndian.I32, 0, count);
            default -> throw new IllegalArgumentException("tokens of " + dtype + ", expected integers of 1, 2 or 4"
                    + " bytes");
        }
    }

    /** The array that holds the ids, from index 0; valid until the next {@link #reserve}. */
    int[] array() {
        return ids;
    }

    /** Makes room for more ids after some that are in the array. */
    int[] reserve(int used, int more) {
        if (more > ids.length - used) {
            long wanted = Math.max((long) used + more, 2L * ids.length);
            ids = Arrays.copyOf(ids, Math.toIntExact(Math.max((long) used + more, Math.min(wanted, MAX_LENGTH))));
        }
        return ids;
    }

    void setSize(int count) {
        size = count;
    }
}
