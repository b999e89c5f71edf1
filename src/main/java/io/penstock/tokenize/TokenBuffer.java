// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

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

    /** {@return a copy of the ids} */
    public int[] toArray() {
        return Arrays.copyOf(ids, size);
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
