// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import java.util.Arrays;

/** Numbers, one after another, as many as come. */
final class Longs {

    private long[] values = new long[16];
    private int count;

    void add(long value) {
        if (count == values.length) {
            values = Arrays.copyOf(values, count * 2);
        }
        values[count++] = value;
    }

    /** Adds the same number until there are so many. */
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
