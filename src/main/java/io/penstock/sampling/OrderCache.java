// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** The orders of the few epochs that workers are planning, so that no batch builds one. */
final class OrderCache {

    private final RecentValues<Order> orders;

    OrderCache(Sampler sampler) {
        long size = sampler.size();
        this.orders = new RecentValues<>(epoch -> {
            Order order = sampler.epoch(epoch);
            if (order.size() != size && !(order instanceof EditedOrder)) {
                throw new IllegalStateException("epoch " + epoch + " has " + order.size() + " samples, expected the "
                        + size + " of " + sampler.fingerprint());
            }
            return order;
        });
    }

    Order of(long epoch) {
        return orders.of(epoch);
    }
}
