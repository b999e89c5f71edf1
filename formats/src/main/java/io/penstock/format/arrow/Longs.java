// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import java.util.Arrays;

/** A growing array of numbers. */
final class Longs {

    private long[] values = new long[16];
    private int count;

    void add(long value) {
        if (count == values.length) {
            values = Arrays.copyOf(values, count * 2);
        }
        values[count++] = value;
    }

    /** Appends a number until there are {@code upTo}. */
    void fill(int upTo, long value) {
        while (count < upTo) {
            add(value);
        }
    }

    void set(int index, long value) {
        values[index] = value;
    }

    long get(int index) {
        return values[index];
    }

    long last() {
        return values[count - 1];
    }

    int count() {
        return count;
    }

    long[] toArray() {
        return Arrays.copyOf(values, count);
    }
}
