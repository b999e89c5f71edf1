package io.penstock.sampling;

import java.util.function.LongUnaryOperator;

/**
 * An order whose samples are worked out position by position.
 *
 * @param size the number of positions
 * @param sampleAt the sample at a position that is within the order
 */
record ComputedOrder(long size, LongUnaryOperator sampleAt) implements Order {

    @Override
    public long at(long position) {
        Positions.check(position, size);
        return sampleAt.applyAsLong(position);
    }
}
