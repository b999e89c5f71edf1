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
        Order order = size - first < window ? last : windows.of(number);
        return first + order.at(position - first);
    }
}
