// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The vectors of {@code docs/spec/streams.md}. */
public final class StreamVectors {

    private StreamVectors() {
    }

    /** Orders and states of small streams. */
    public static Map<String, @Nullable Object> streams() {
        var random = new SplittableRandom(11);
        List<Object> orders = new ArrayList<>();
        List<Object> states = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            int lanes = i % 3 == 2 ? random.nextInt(1, 5) : 1;
            int[] sizes = IntStream.range(0, lanes + random.nextInt(4)).map(_ -> random.nextInt(40)).toArray();
            if (lanes > 1) {
                Arrays.fill(sizes, 10 + random.nextInt(20));
            }
            int window = i % 4 == 0 ? 0 : random.nextInt(1, 30);
            long seed = random.nextLong();
            var source = new NumberSource(sizes);
            StreamDataset.Builder settings = source.dataset().lanes(lanes);
            int batchSize = random.nextInt(1, 9);
            try (StreamDataset stream = (window == 0 ? settings : settings.shuffle(seed, window)).open();
                    DataLoader loader = DataLoader.builder(stream).batchSize(batchSize).workers(0).open()) {
                List<Object> order = new ArrayList<>();
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        Tensor ids = batch.tensor("id");
                        for (int row = 0; row < batch.count(); row++) {
                            order.add(List.of(ids.getLong(2L * row), ids.getLong(2L * row + 1)));
                        }
                    }
                    if (window > 0) {
                        states.add(Json.members("partitions", boxed(sizes), "lanes", lanes, "window", window, "seed",
                                seed, "batch_size", batchSize, "position", loader.state().position(), "state",
                                loader.state().lanes().stream().map(lane -> (Object) Json.members("lane", lane.lane(),
                                        "from", lane.from(), "turn", lane.turn(), "cursors",
                                        lane.cursors())).toList()));
                    }
                }
                orders.add(Json.members("partitions", boxed(sizes), "lanes", lanes, "window", window, "seed", seed,
                        "order", order));
            }
        }
        return Json.members("orders", orders, "states", states);
    }

    private static List<Integer> boxed(int[] numbers) {
        return IntStream.of(numbers).boxed().toList();
    }
}
