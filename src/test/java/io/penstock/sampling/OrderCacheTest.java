// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.CountingSampler;
import org.junit.jupiter.api.Test;

class OrderCacheTest {

    private static CountingSampler shuffling(long orderSize) {
        return new CountingSampler(10, epoch -> new Permutation(orderSize, 1, epoch));
    }

    @Test
    void neighbouringEpochsAreBuiltOnceWhateverTheOrderOfAsking() {
        CountingSampler sampler = shuffling(10);
        OrderCache cache = new OrderCache(sampler);
        Order seventh = cache.of(7);
        for (int round = 0; round < 100; round++) {
            for (long epoch = 5; epoch < 13; epoch++) {
                cache.of(epoch);
            }
        }
        assertSame(seventh, cache.of(7));
        assertEquals(8, sampler.asked().size());
    }

    @Test
    void aDistantEpochReplacesTheOneInItsSlotAndNothingElseChanges() {
        OrderCache cache = new OrderCache(shuffling(10));
        for (long epoch : new long[] {0, 8, 0, 1L << 40, 3, 11, 3}) {
            assertEquals(new Permutation(10, 1, epoch).at(4), cache.of(epoch).at(4));
        }
    }

    @Test
    void anOrderOfAnotherSizeThanItsSamplerIsRefused() {
        OrderCache cache = new OrderCache(shuffling(9));
        String message = assertThrows(IllegalStateException.class, () -> cache.of(2)).getMessage();
        assertTrue(message.contains("epoch 2 has 9 samples, expected the 10 of counting"), message);
    }
}
