// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.dataset.Packing;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.Tensor;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Sampler.LaneState;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
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
                                loader.state().lanes().stream().map(StreamVectors::members).toList()));
                    }
                }
                orders.add(Json.members("partitions", boxed(sizes), "lanes", lanes, "window", window, "seed", seed,
                        "order", order));
            }
        }
        return Json.members("ends", ends(random), "lines", SourceVectors.lines(), "orders", orders, "states", states,
                "resumes", SourceVectors.resumes(), "lives", lives(random), "packed", packed(random),
                "budgets", budgets(random), "mixtures", SourceVectors.mixtures(), "tars",
                SourceVectors.tars(), "spools", SourceVectors.spools());
    }

    /** Runs of several ranks to the end of a stream. */
    private static List<Object> ends(SplittableRandom random) {
        List<Object> cases = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            int records = random.nextInt(24);
            int world = random.nextInt(1, 6);
            TailPolicy tail = TailPolicy.values()[i % 3];
            int batchSize = random.nextInt(1, 5);
            boolean dropsLast = i % 8 == 7;
            List<Object> ranks = new ArrayList<>();
            long position = 0;
            for (int rank = 0; rank < world; rank++) {
                try (StreamDataset stream = new NumberSource(records).dataset().open()) {
                    DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(batchSize).workers(0)
                            .shard(new Shard(rank, world, tail));
                    List<Object> batches = new ArrayList<>();
                    try (DataLoader loader = (dropsLast ? builder.dropLast() : builder).open()) {
                        for (Batch batch : loader.epoch()) {
                            try (batch) {
                                batches.add(Json.members("places", IntStream.range(0, batch.count())
                                        .mapToObj(batch::sample).toList(), "valid", batch.valid()));
                            }
                        }
                        position = loader.state().position();
                    }
                    ranks.add(batches);
                }
            }
            cases.add(Json.members("records", records, "world", world, "tail", text(tail), "batch_size", batchSize,
                    "drop_last", dropsLast, "ranks", ranks, "position", position));
        }
        return cases;
    }

    private static String text(TailPolicy tail) {
        return tail.name().toLowerCase(Locale.ROOT);
    }

    static Object members(LaneState lane) {
        Map<String, @Nullable Object> members = Json.members("lane", lane.lane());
        if (lane.place() != LaneState.BY_POSITION) {
            members.put("place", lane.place());
            members.put("after", lane.after());
        }
        members.putAll(Json.members("from", lane.from(), "turn", lane.turn(), "cursors", lane.cursors()));
        if (!lane.log().isEmpty()) {
            members.put("log", lane.log());
        }
        return members;
    }

    /** Windows of runs that follow a log. */
    private static List<Object> lives(SplittableRandom random) {
        List<Object> cases = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int partitions = 2 + i % 3;
            int window = random.nextInt(8, 30);
            var source = NumberSource.of(partitions, 100);
            try (StreamDataset stream = source.dataset().shuffle(0, window).live(Duration.ZERO).open();
                    DataLoader loader = DataLoader.builder(stream).batchSize(window).workers(0).open()) {
                LoaderState start = loader.state();
                boolean[] aside = new boolean[partitions];
                StringBuilder log = new StringBuilder();
                for (int record = 0; record < window; record += random.nextInt(1, 8)) {
                    int partition = random.nextInt(1, partitions);      // the first one is never aside
                    aside[partition] = !aside[partition];
                    log.append(record).append(aside[partition] ? '-' : '+').append(partition).append(' ');
                }
                long from = (long) window * random.nextInt(20);
                var lane = new LaneState(0, from, random.nextInt(partitions),
                        IntStream.range(0, partitions).mapToObj(_ -> Integer.toString(random.nextInt(60))).toList(),
                        log.append(window).toString());
                loader.seek(new LoaderState(0, lane.from(), start.seed(), start.sampler(), start.dataset(),
                        List.of(lane)));
                try (Batch batch = loader.next()) {
                    Tensor ids = batch.tensor("id");
                    List<List<Long>> order = new ArrayList<>(Collections.nCopies(window, List.of()));
                    for (int row = 0; row < window; row++) {
                        order.set((int) (batch.sample(row) - lane.from()),
                                List.of(ids.getLong(2L * row), ids.getLong(2L * row + 1)));
                    }
                    cases.add(Json.members("partitions", boxed(IntStream.generate(() -> 100).limit(partitions)
                            .toArray()), "window", window, "state", Json.members("lane", 0, "from", lane.from(),
                                    "turn", lane.turn(), "cursors", lane.cursors(), "log", lane.log()),
                            "order", order));
                }
            }
        }
        return cases;
    }

    /** Documents of so many tokens: a letter with a blank before it is one token of gpt2, and the end another. */
    private static List<Object> packed(SplittableRandom random) {
        Tokenizer tokenizer = Tokenizer.of("gpt2");
        List<Object> cases = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int[] lengths = IntStream.range(0, random.nextInt(1, 26)).map(_ -> random.nextInt(1, 40)).toArray();
            int capacity = random.nextInt(1, 33);
            Packing.Method method = Packing.Method.values()[i % 2];
            int window = random.nextInt(1, 12);
            StreamSource texts = StreamSource.of("texts", first -> IntStream.range((int) first, lengths.length)
                    .mapToObj(d -> MemorySegment.ofArray((" " + (char) ('a' + d)).repeat(lengths[d] - 1)
                            .getBytes(StandardCharsets.UTF_8))).iterator());
            PackedSource source = new PackedSource(TokenDocumentSource.of(texts, RecordText.WHOLE, tokenizer), capacity,
                    method, window);
            List<Object> sequences = new ArrayList<>();
            List<String> cursors = new ArrayList<>();
            try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
                while (reader.poll(into) == PartitionReader.Found.RECORD) {
                    MemorySegment record = into.record(into.count() - 1);
                    sequences.add(IntStream.range(0, PackedRecord.parts(record, 0))
                            .mapToObj(part -> PackedRecord.length(record, 0, part)).toList());
                    cursors.add(reader.cursor());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            cases.add(Json.members("documents", boxed(lengths), "capacity", capacity, "method", method.toString(),
                    "window", window, "sequences", sequences, "cursors", cursors));
        }
        return cases;
    }

    private static List<Object> budgets(SplittableRandom random) {
        List<Object> cases = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int[] lengths = IntStream.range(0, random.nextInt(1, 60)).map(_ -> random.nextInt(1, 30)).toArray();
            int world = i % 3 + 1;
            TailPolicy tail = TailPolicy.values()[i / 3 % 3];
            var budget = new TokenBudget(random.nextInt(20, 120), random.nextInt(1, 12), random.nextInt(1, 9),
                    TokenBudget.Cost.values()[i % 2]);
            BatchSampler batches = BatchSampler.arriving(Sampler.sequential(1L << 62), budget,
                    sample -> lengths[(int) sample], new Shard(0, world, tail));
            List<Integer> counts = new ArrayList<>();
            while (true) {
                for (long next = batches.awaited(counts.size()); next >= 0; next = batches.awaited(counts.size())) {
                    if (next + world <= lengths.length) {
                        batches.arrived(next + world);
                    } else {
                        batches.ended(lengths.length);
                    }
                }
                if (batches.epochOf(counts.size()) > 0) {
                    break;
                }
                counts.add(batches.countOf(counts.size()));
            }
            cases.add(Json.members("lengths", boxed(lengths), "tokens", budget.tokens(), "max_samples",
                    budget.maxSamples(), "multiple_of", budget.multipleOf(), "cost",
                    budget.cost().name().toLowerCase(Locale.ROOT), "world", world, "tail", text(tail), "counts",
                    counts));
        }
        return cases;
    }

    private static List<Integer> boxed(int[] numbers) {
        return IntStream.of(numbers).boxed().toList();
    }
}
