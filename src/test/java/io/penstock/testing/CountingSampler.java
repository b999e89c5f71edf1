// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/** A sampler that remembers which epochs were asked of it, in order. */
public record CountingSampler(long size, LongFunction<Order> orders, List<Long> asked) implements Sampler {

    public CountingSampler(long size, LongFunction<Order> orders) {
        this(size, orders, new ArrayList<>());
    }

    @Override
    public Order epoch(long epoch) {
        asked.add(epoch);
        return orders.apply(epoch);
    }

    @Override
    public String fingerprint() {
        return "counting";
    }
}
