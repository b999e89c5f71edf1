// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import static io.penstock.json.Json.members;

import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Feedback;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.stream.MixtureSource;
import io.penstock.stream.StreamDataset;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;

/** Makes the vectors of edits.md and ledger.md. */
public final class EditVectors {

    private static final int EPOCHS = 3;

    private EditVectors() {
    }

    /** Returns the vectors of edited orders. */
    public static Map<String, Object> edits() {
        List<Object> orders = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(36);
        for (int number = 0; number < 60; number++) {
            int size = 12 + random.nextInt(30);
            int kind = number % 4;
            Map<String, Object> base;
            Sampler sampler;
            if (kind < 2) {
                base = kind == 0 ? members("size", size) : members("size", size, "seed", (long) number);
                sampler = kind == 0 ? Sampler.sequential(size) : Sampler.shuffled(size, number);
            } else {
                List<Double> first = List.of(1.0 + random.nextInt(4), 1.0, 0.5);
                List<Double> then = List.of(1.0, 2.0 + random.nextInt(4), 0.0);
                List<Integer> sizes = List.of(5 + random.nextInt(9), 9, 4);
                Mixture.Source[] sources = new Mixture.Source[3];
                List<Object> described = new ArrayList<>();
                for (int s = 0; s < sources.length; s++) {
                    sources[s] = new Mixture.Source(Sampler.shuffled(sizes.get(s), s + 1), first.get(s));
                    described.add(members("size", sizes.get(s), "seed", s + 1L));
                }
                Mixture mixture = Mixture.of(size, sources).then(size / 2,
                        then.stream().mapToDouble(weight -> weight).toArray());
                base = members("size", size, "sources", described, "phases", List.of(members("first", 0, "weights",
                        first), members("first", size / 2, "weights", then)));
                if (kind == 3) {
                    base.put("seed", (long) number);
                }
                sampler = kind == 3 ? mixture.byChance(number) : mixture;
            }
            orders.addAll(edited(base, sampler, random));
        }
        List<Object> feedback = new ArrayList<>();
        for (double[] weights : new double[][] {{1, 2, 3}, {0.1, 0, 1e-9}, {255, 127.5, 0.5}, {1, 0.5}, {7}}) {
            feedback.add(members("weights", Arrays.stream(weights).boxed().toList(), "whole",
                    ((Feedback) (before, _) -> before).wholeWeights(weights, new double[weights.length]).stream()
                            .map(Double::longValue).toList()));
        }
        return members("orders", orders, "feedback", feedback, "streams", streams(), "stream_weights", streamWeights());
    }

    /** A stream of records that are their numbers, in one lane. */
    private static StreamSource numbers(String name, long records) {
        return StreamSource.of(name, first -> LongStream.range(first, records)
                .mapToObj(number -> MemorySegment.ofArray(new long[] {number})).iterator());
    }

    private static StreamDataset open(StreamSource source, int window) {
        StreamDataset.Builder builder = StreamDataset.builder(source).field("n", DType.I64);
        return (window == 0 ? builder : builder.shuffle(9, window)).open();
    }

    private static DataLoader from(StreamDataset stream, LoaderState state) {
        var builder = DataLoader.builder(stream).batchSize(1).workers(0);
        return (state == null ? builder : builder.resume(state)).open();
    }

    private static List<Object> streams() {
        List<Object> streams = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(37);
        for (int number = 0; number < 12; number++) {
            int window = number % 3 == 0 ? 0 : 3 + random.nextInt(9);
            try (StreamDataset stream = open(numbers("n", 400), window)) {
                BatchSampler run = run(stream.arrivals().orElseThrow().order(), 1, 0, 1)
                        .withDataset(stream.fingerprint());
                LoaderState state = null;
                int given = 0;
                for (int edits = 0; edits < 2; edits++) {
                    try (DataLoader loader = from(stream, state)) {
                        for (int steps = random.nextInt(1, 12); steps > 0; steps--) {
                            loader.next().close();
                            given++;
                        }
                        state = loader.state();
                    }
                    long step = given + random.nextInt(9);
                    state = state.edit(run).exciseSteps(step, step + random.nextInt(3))
                            .exciseSamples(10 + given, 12 + given).state();
                }
                List<Long> samples = new ArrayList<>();
                try (DataLoader loader = from(stream, state)) {
                    for (int i = 0; i < 40; i++) {
                        try (Batch batch = loader.next()) {
                            samples.add(batch.sample(0));
                        }
                    }
                }
                List<Long> positions = new ArrayList<>();
                state.resume(run).positionsOf(0, 39).forEach(range ->
                        LongStream.range(range.from(), range.end()).forEach(positions::add));
                streams.add(members("window", window, "seed", 9, "lanes", 1, "text", state.toJson(), "positions",
                        positions, "samples", samples));
            }
        }
        return streams;
    }

    private static List<Object> streamWeights() {
        List<Object> mixtures = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(38);
        for (int number = 0; number < 8; number++) {
            int window = number % 2 == 0 ? 0 : 5;
            double[] weights = {1 + random.nextInt(3), 2, 1};
            StreamSource mixed = MixtureSource.of(new MixtureSource.Part(numbers("a", 900), weights[0]),
                    new MixtureSource.Part(numbers("b", 900), weights[1]),
                    new MixtureSource.Part(numbers("c", 900), weights[2]));
            try (StreamDataset stream = open(mixed, window)) {
                BatchSampler run = run(stream.arrivals().orElseThrow().order(), 1, 0, 1)
                        .withDataset(stream.fingerprint());
                LoaderState state = null;
                for (int edits = 0; edits < 2; edits++) {
                    try (DataLoader loader = from(stream, state)) {
                        for (int steps = random.nextInt(1, 12); steps > 0; steps--) {
                            loader.next().close();
                        }
                        state = loader.state();
                    }
                    state = state.edit(run).weights(random.nextInt(3), 1 + random.nextInt(4), 0.5).state();
                }
                List<Long> values = new ArrayList<>();
                try (DataLoader loader = from(stream, state)) {
                    for (int i = 0; i < 40; i++) {
                        try (Batch batch = loader.next()) {
                            values.add(batch.tensor("n").getLong(0));
                        }
                    }
                }
                mixtures.add(members("weights", Arrays.stream(weights).boxed().toList(), "window", window, "seed", 9,
                        "text", state.toJson(), "records", values));
            }
        }
        return mixtures;
    }

    private static List<Object> edited(Map<String, Object> base, Sampler sampler, SplittableRandom random) {
        BatchSampler run = run(sampler, 1 + random.nextInt(3), 0, 1 + random.nextInt(2));
        LoaderState state = LoaderState.before(run);
        for (int edits = 1 + random.nextInt(6); edits > 0; edits--) {
            BatchSampler resumed = state.resume(run);
            state = LoaderState.after(resumed, random.nextInt(5));
            if (state.epoch() > 0 && edits > 1) {
                edits = 1;
            }
            StateEdit edit = state.edit(run);
            long step = random.nextInt(12);
            state = switch (random.nextInt(5)) {
                case 0 -> edit.exciseSteps(step, step + random.nextInt(3)).state();
                case 1 -> edit.exciseSamples(step, step).state();
                case 2 -> edit.repeatSteps(0, random.nextInt(2)).state();
                case 3 -> edits == 1 ? edit.untilStep(14 + step).state() : edit.exciseSamples(1, 2).state();
                default -> sampler instanceof Mixture ? random.nextBoolean()
                        ? edit.weights(random.nextInt(5), 1, 0.25 * random.nextInt(9)).state()
                        : edit.feedback(Feedback.multiplicative(1), new double[] {2, 1, 1}, 1, random.nextInt(3), 2)
                                .state()
                        : edit.exciseSteps(step + 3, step + 3).state();
            };
        }
        List<Object> orders = new ArrayList<>();
        BatchSampler edited = run(sampler, 1, 0, 1).edited(state.edits());
        for (int epoch = 0; epoch < EPOCHS && epoch < edited.endEpoch(); epoch++) {
            int size = (int) edited.order(epoch).size();
            long[] samples = new long[size];
            long[] positions = new long[size];
            edited.rows(epoch, 0, 1, samples, positions);
            List<Object> places = new ArrayList<>();
            for (long position = 1; position < edited.endOf(epoch); position++) {
                BatchSampler from = edited.startingAt(epoch, position);
                if (from.startEpoch() == epoch) {
                    places.add(List.of(position, from.startPlace()));
                }
            }
            orders.add(members("base", base, "text", state.toJson(), "epoch", epoch,
                    "positions", Arrays.stream(positions).boxed().toList(),
                    "samples", Arrays.stream(samples).boxed().toList(), "places", places));
        }
        return orders;
    }

    private static BatchSampler run(Sampler sampler, int batch, int rank, int world) {
        return BatchSampler.of(sampler, batch, new Shard(rank, world, TailPolicy.PAD)).withDataset("d");
    }

    /** Returns the vectors of ledgers, which are written to a folder. */
    public static Map<String, Object> ledger(Path folder) throws IOException {
        List<Object> runs = new ArrayList<>();
        Sampler sampler = Sampler.shuffled(37, 5);
        LoaderState state = null;
        for (int attempt = 0; attempt < 3; attempt++) {
            BatchSampler whole = run(sampler, 2 + attempt, 1, 2 + attempt);
            if (attempt == 2) {
                state = state.edit(whole).exciseSamples(3, 5).exciseSteps(4, 4).state();
            }
            BatchSampler batches = state == null ? whole : state.resume(whole);
            List<Object> steps = new ArrayList<>();
            try (Ledger ledger = Ledger.open(folder, batches)) {
                BatchPlan plan = new BatchPlan(batches.batchSize());
                for (int step = 0; step < 5; step++) {
                    batches.plan(step, plan);
                    steps.add(members("position", batches.positionOf(step), "epoch", plan.epoch(), "place",
                            batches.placeOf(step), "rows", plan.count(), "last", batches.isLastOfEpoch(step), "valid",
                            plan.valid(), "positions",
                            IntStream.range(0, plan.count()).mapToObj(plan::position).toList(),
                            "samples", IntStream.range(0, plan.count()).mapToObj(plan::sample).toList()));
                    ledger.delivered(plan);
                }
                runs.add(members("rank", 1, "world", 2 + attempt, "tail", 0, "place", batches.startPlace(),
                        "state", Json.parse(LoaderState.before(batches).toJson()), "steps", steps));
                state = LoaderState.after(batches, 4).withChain(ledger.chain());
            }
        }
        byte[] bytes = Files.readAllBytes(Ledger.file(folder, 1));
        Path withBytes = Files.createDirectories(folder.resolve("bytes"));
        BatchSampler batches = run(sampler, 3, 0, 1);
        List<Object> steps = new ArrayList<>();
        String chain;
        try (Ledger ledger = Ledger.openOfBytes(withBytes, batches)) {
            BatchPlan plan = new BatchPlan(batches.batchSize());
            for (int step = 0; step < 4; step++) {
                batches.plan(step, plan);
                CRC32C crc = new CRC32C();
                byte[] samples = new byte[plan.count()];
                for (int i = 0; i < samples.length; i++) {
                    samples[i] = (byte) plan.sample(i);
                }
                crc.update(samples);
                plan.content(samples.length, (int) crc.getValue());
                ledger.delivered(plan);
                steps.add(members("position", batches.positionOf(step), "epoch", plan.epoch(), "place",
                        batches.placeOf(step), "rows", plan.count(), "last", batches.isLastOfEpoch(step), "valid",
                        plan.valid(), "positions", IntStream.range(0, plan.count()).mapToObj(plan::position).toList(),
                        "samples", IntStream.range(0, plan.count()).mapToObj(plan::sample).toList(),
                        "content", HexFormat.of().formatHex(samples)));
            }
            chain = ledger.chain();
        }
        byte[] both = Files.readAllBytes(Ledger.file(withBytes, 0));
        List<Object> oneRun = List.of(members("rank", 0, "world", 1, "tail", 0, "place", 0L,
                "state", Json.parse(LoaderState.before(batches).toJson()), "steps", steps));
        byte[] torn = Arrays.copyOf(bytes, bytes.length + 100);
        return members("files", List.of(
                members("hex", HexFormat.of().formatHex(bytes), "runs", runs, "chain", state.chain(), "bytes",
                        bytes.length),
                members("hex", HexFormat.of().formatHex(torn), "runs", runs, "chain", state.chain(), "bytes",
                        bytes.length),
                members("hex", HexFormat.of().formatHex(both), "runs", oneRun, "chain", chain, "bytes",
                        both.length)));
    }
}
