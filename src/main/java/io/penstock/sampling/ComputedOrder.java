// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.function.LongUnaryOperator;

/** An order whose samples are computed position by position. */
record ComputedOrder(long size, LongUnaryOperator sampleAt) implements Order {

    @Override
    public long at(long position) {
        Positions.check(position, size);
        return sampleAt.applyAsLong(position);
    }
}
