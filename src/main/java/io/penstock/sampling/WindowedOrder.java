// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/**
 * An order that arranges the samples of each window of another order anew. The last window may be shorter. The last few
 * windows are kept.
 */
abstract class WindowedOrder implements Order {

    private final Order base;
    private final long window;
    private final RecentValues<long[]> windows = new RecentValues<>(this::arrangedWindow);

    WindowedOrder(Order base, long window) {
        this.base = base;
        this.window = window;
    }

    /**
     * Arranges a window. A pure function: any thread calls it, and two may at once.
     *
     * @param number the window's number, from 0
     * @param samples the window's samples in the order of the base; not kept
     * @return the samples in their new order, as many
     */
    abstract long[] arranged(long number, long[] samples);

    private long[] arrangedWindow(long number) {
        long begin = number * window;
        long[] samples = new long[(int) Math.min(window, size() - begin)];
        base.fill(begin, 1, samples.length, samples);
        return arranged(number, samples);
    }

    @Override
    public final long size() {
        return base.size();
    }

    @Override
    public final long at(long position) {
        Positions.check(position, size());
        long number = position / window;
        return windows.of(number)[(int) (position - number * window)];
    }

    @Override
    public final void fill(long first, long stride, int count, long[] into) {
        Positions.check(first, stride, count, into.length, size());
        long position = first;
        for (int i = 0; i < count;) {
            long number = position / window;
            long begin = number * window;
            long[] samples = windows.of(number);
            for (; i < count && position - begin < samples.length; i++, position += stride) {
                into[i] = samples[(int) (position - begin)];
            }
        }
    }
}
