// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/**
 * The order of one epoch: a mapping from the positions {@code 0 … size()-1} to samples, one-to-one unless the sampler
 * documents that samples repeat or are left out.
 *
 * <p>An order is immutable and thread-safe. Every position is computed on its own, at a constant cost: nothing is
 * replayed.
 */
public interface Order {

    /** {@return the number of positions, at least 1} */
    long size();

    /**
     * {@return the dataset index of the sample at a position}
     *
     * @param position from 0 up to, not including, {@link #size()}
     * @throws IndexOutOfBoundsException if the position is outside that range
     */
    long at(long position);

    /**
     * The samples at {@code count} positions that lie {@code stride} apart, as one rank of several takes them.
     *
     * <p>An implementation whose steps are independent overrides this to overlap them in the CPU.
     *
     * @param first the first position
     * @param stride the distance between neighboring positions, at least 1
     * @param count how many samples
     * @param into receives the samples, from index 0
     * @throws IndexOutOfBoundsException if a position is outside the order, or {@code into} is shorter than
     *     {@code count}
     */
    default void fill(long first, long stride, int count, long[] into) {
        Positions.check(first, stride, count, into.length, size());
        for (int i = 0; i < count; i++) {
            into[i] = at(first + i * stride);
        }
    }
}
