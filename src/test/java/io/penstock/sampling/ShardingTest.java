// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What each rank takes of an epoch, against PyTorch's DistributedSampler. */
class ShardingTest {

    @Test
    void ranksTakeWhatDistributedSamplerGivesThemInBothModes() throws IOException {
        int compared = 0;
        for (Object item : Json.array(fixture("distributed_sampler.json").get("cases"))) {
            Map<String, Object> expected = Json.object(item);
            int size = ((Long) expected.get("size")).intValue();
            int world = ((Long) expected.get("world")).intValue();
            boolean dropLast = (Boolean) expected.get("drop_last");
            List<Object> ranks = Json.array(expected.get("ranks"));
            for (int rank = 0; rank < world; rank++) {
                Shard shard = new Shard(rank, world, dropLast ? TailPolicy.DROP : TailPolicy.PAD);
                if (dropLast && size < world) {
                    assertEquals(List.of(), ranks.get(rank));
                    assertThrows(IllegalArgumentException.class,
                            () -> BatchSampler.of(Sampler.sequential(size), 4, shard));
                } else {
                    BatchSampler batches = BatchSampler.of(Sampler.sequential(size), 4, shard);
                    assertEquals(ranks.get(rank), samplesOfEpoch(batches, 0), expected + " rank " + rank);
                    assertEquals(ranks.get(rank), samplesOfEpoch(batches, 1), expected + " rank " + rank);
                }
                compared++;
            }
        }
        assertTrue(compared > 1000, "compared " + compared);
    }

    @Test
    void aShuffledEpochIsDealtOutByPositionNotBySample() {
        Sampler sampler = Sampler.shuffled(101, 9);
        Order order = sampler.epoch(3);
        for (int rank = 0; rank < 4; rank++) {
            BatchSampler batches = BatchSampler.of(sampler, 7, new Shard(rank, 4, TailPolicy.PAD));
            List<Long> samples = samplesOfEpoch(batches, 3);
            assertEquals(26, samples.size());
            for (int i = 0; i < samples.size(); i++) {
                assertEquals(order.at((rank + 4 * i) % 101), samples.get(i));
            }
        }
    }

    @Test
    void exactGivesTheShapesOfPadButLeavesTheSurplusOutOfValid() {
        BatchPlan pad = new BatchPlan(2);
        BatchPlan exact = new BatchPlan(2);
        long weighed = 0;
        for (int rank = 0; rank < 4; rank++) {
            BatchSampler padded = BatchSampler.of(Sampler.sequential(9), 2, new Shard(rank, 4, TailPolicy.PAD));
            BatchSampler exactly =
                    BatchSampler.of(Sampler.sequential(9), 2, new Shard(rank, 4, TailPolicy.EXACT));
            assertEquals(2, exactly.batchesInEpoch(0));
            for (long n = 0; n < 2; n++) {
                padded.plan(n, pad);
                exactly.plan(n, exact);
                assertEquals(pad.count(), exact.count());
                assertEquals(pad.count(), pad.valid());
                for (int i = 0; i < pad.count(); i++) {
                    assertEquals(pad.sample(i), exact.sample(i));
                }
                weighed += exact.valid();
            }
            assertEquals(rank == 0 ? 1 : 0, exact.valid(), "rank " + rank);
        }
        assertEquals(9, weighed);
    }

    @Test
    void wrongRanksAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Shard(0, 0, TailPolicy.PAD));
        assertThrows(IllegalArgumentException.class, () -> new Shard(-1, 2, TailPolicy.PAD));
        assertThrows(IllegalArgumentException.class, () -> new Shard(2, 2, TailPolicy.PAD));
        assertThrows(NullPointerException.class, () -> new Shard(0, 2, null));
    }

    static List<Long> samplesOfEpoch(BatchSampler batches, long epoch) {
        List<Long> samples = new ArrayList<>();
        BatchPlan plan = new BatchPlan(batches.batchSize());
        long first = batches.firstBatchOf(epoch);
        for (long n = first; n < first + batches.batchesInEpoch(epoch); n++) {
            batches.plan(n, plan);
            assertEquals(epoch, plan.epoch());
            for (int i = 0; i < plan.count(); i++) {
                samples.add(plan.sample(i));
            }
        }
        return samples;
    }

    private static Map<String, Object> fixture(String name) throws IOException {
        try (InputStream in = ShardingTest.class.getResourceAsStream("/fixtures/sampling/" + name)) {
            return Json.object(Json.parse(in.readAllBytes()));
        }
    }
}
