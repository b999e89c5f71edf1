// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** Shuffles positions within windows of one size; the last window may be shorter. */
final class WindowedShuffle {

    private final long size;
    private final long window;
    private final OrderCache windows;
    /** The order of the last, shorter window; unused if there is none. */
    private final Order last;

    WindowedShuffle(long size, long window, long key) {
        this.size = size;
        this.window = window;
        this.windows = new OrderCache(Sampler.shuffled(window, key));
        this.last = new Permutation(Math.max(1, size % window), key, size / window);
    }

    long at(long position) {
        long number = position / window;
        long first = number * window;
        return first + order(number, first).at(position - first);
    }

    /** Computes what {@link #at} gives for positions at equal distances; fastest if all are in one window. */
    void fill(long position, long stride, int count, long[] into) {
        long number = position / window;
        long first = number * window;
        if (count > 0 && (position + stride * (count - 1)) / window == number) {
            order(number, first).fill(position - first, stride, count, into);
            for (int i = 0; i < count; i++) {
                into[i] += first;
            }
            return;
        }
        for (int i = 0; i < count; i++) {
            into[i] = at(position + stride * i);
        }
    }

    private Order order(long number, long first) {
        return size - first < window ? last : windows.of(number);
    }
}
