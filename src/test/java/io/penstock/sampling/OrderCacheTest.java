// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrderCacheTest {

    /** Remembers which epochs were asked of it. */
    private static final class CountingSampler implements Sampler {

        private final List<Long> asked = new ArrayList<>();
        private final long orderSize;

        CountingSampler(long orderSize) {
            this.orderSize = orderSize;
        }

        @Override
        public long size() {
            return 10;
        }

        @Override
        public Order epoch(long epoch) {
            asked.add(epoch);
            return new Permutation(orderSize, 1, epoch);
        }

        @Override
        public String fingerprint() {
            return "counting";
        }
    }

    @Test
    void neighbouringEpochsAreBuiltOnceWhateverTheOrderOfAsking() {
        CountingSampler sampler = new CountingSampler(10);
        OrderCache cache = new OrderCache(sampler);
        Order seventh = cache.of(7);
        for (int round = 0; round < 100; round++) {
            for (long epoch = 5; epoch < 13; epoch++) {
                cache.of(epoch);
            }
        }
        assertSame(seventh, cache.of(7));
        assertEquals(8, sampler.asked.size());
    }

    @Test
    void aDistantEpochReplacesTheOneInItsSlotAndNothingElseChanges() {
        OrderCache cache = new OrderCache(new CountingSampler(10));
        for (long epoch : new long[] {0, 8, 0, 1L << 40, 3, 11, 3}) {
            assertEquals(new Permutation(10, 1, epoch).at(4), cache.of(epoch).at(4));
        }
    }

    @Test
    void anOrderOfAnotherSizeThanItsSamplerIsRefused() {
        OrderCache cache = new OrderCache(new CountingSampler(9));
        String message = assertThrows(IllegalStateException.class, () -> cache.of(2)).getMessage();
        assertTrue(message.contains("epoch 2 has 9 samples, expected the 10 of counting"), message);
    }
}
