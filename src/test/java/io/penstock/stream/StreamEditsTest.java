// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Feedback;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LedgerAudit;
import io.penstock.state.LoaderState;
import io.penstock.state.StateEdit;
import io.penstock.stream.MixtureSource.Part;
import io.penstock.testing.Thorough;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs over streams that are edited, against a model that keeps every record in a list; and their ledgers. */
class StreamEditsTest {

    private static final int QUICK_HISTORIES = 10;
    private static final int HISTORIES = Thorough.times(40, 500);

    @TempDir
    Path folder;

    /** How a stream is read. */
    private record Setting(int[] sizes, int window, int lanes, long epoch) {

        static Setting of(Random random) {
            int partitions = 1 + random.nextInt(3);
            int[] sizes = IntStream.generate(() -> 100 + random.nextInt(200)).limit(partitions).toArray();
            int lanes = random.nextInt(3) == 0 ? partitions : 1;
            long epoch = random.nextInt(4) == 0 ? 12L * lanes * (1 + random.nextInt(10)) : 0;
            return new Setting(sizes, random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(40), lanes, epoch);
        }

        StreamDataset open() {
            StreamDataset.Builder builder = new NumberSource(sizes).dataset().lanes(lanes);
            builder = window == 0 ? builder : builder.shuffle(7, window);
            return (epoch == 0 ? builder : builder.epochRecords(epoch)).open();
        }
    }

    private static BatchSampler batches(StreamDataset stream, int batch, int rank, int world) {
        return BatchSampler.of(stream.arrivals().orElseThrow().order(), batch, new Shard(rank, world, TailPolicy.EXACT))
                .withDataset(stream.fingerprint());
    }

    private static List<Long> ids(Batch batch) {
        List<Long> ids = new ArrayList<>();
        try (batch) {
            Tensor values = batch.tensor("id");
            for (int row = 0; row < batch.valid(); row++) {
                ids.add(NumberSource.id(values.getLong(2L * row), values.getLong(2L * row + 1)));
            }
        }
        return ids;
    }

    /** The records of all ranks, step by step: row i of rank r is the one at place i W + r. */
    private static void interleave(List<List<Long>> ranks, List<Long> into) {
        for (int row = 0; row < ranks.getFirst().size(); row++) {
            for (List<Long> rank : ranks) {
                if (row < rank.size()) {
                    into.add(rank.get(row));
                }
            }
        }
    }

    private static List<Long> all(Setting setting) {
        List<Long> ids = new ArrayList<>();
        try (StreamDataset stream = setting.open();
                DataLoader loader = DataLoader.builder(stream).batchSize(1).workers(0).open()) {
            while (loader.hasNext()) {
                ids.addAll(ids(loader.next()));
            }
        }
        return ids;
    }

    /** Records whose places are computed: of windows that are full, before the first lane ends. */
    private static long computed(Setting setting, List<Long> ids) {
        if (setting.lanes == 1) {
            return setting.window == 0 ? ids.size() : (long) ids.size() / setting.window * setting.window;
        }
        long least = Long.MAX_VALUE;
        for (int lane = 0; lane < setting.lanes; lane++) {
            long records = setting.sizes[lane];
            least = Math.min(least, setting.window == 0 ? records : records / setting.window * setting.window);
        }
        return least * setting.lanes;
    }

    /** The indices of the records, by place, as the specification numbers them. */
    private static List<Long> indices(Setting setting) {
        List<Long> indices = new ArrayList<>();
        try (StreamDataset stream = setting.open();
                DataLoader loader = DataLoader.builder(stream).batchSize(1).workers(0).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    indices.add(batch.sample(0));
                }
            }
        }
        return indices;
    }

    @Test
    void someHistories() throws Exception {
        for (int seed = 0; seed < QUICK_HISTORIES; seed++) {
            history(seed);
        }
    }

    @Test
    @Tag("slow")
    void histories() throws Exception {
        for (int seed = QUICK_HISTORIES; seed < HISTORIES; seed++) {
            history(seed);
        }
    }

    private void history(int seed) throws Exception {
        Random random = new Random(seed);
        Setting setting = Setting.of(random);
        String name = "seed " + seed + ": " + setting;
        List<Long> ids = all(setting);
        List<Long> indices = indices(setting);
        long computed = computed(setting, ids);
        List<Integer> kept = new ArrayList<>(IntStream.range(0, ids.size()).boxed().toList());
        Path ledger = folder.resolve("ledger-" + seed);
        LoaderState state = null;
        int at = 0;                                             // in the list of kept places
        int stop = Integer.MAX_VALUE;                           // the place that the run ends before
        int runs = 2 + random.nextInt(5);
        for (int run = 0; run < runs; run++) {
            int world = setting.lanes > 1 ? 1 : 1 + random.nextInt(3);
            int batch = 1 + random.nextInt(6);
            int steps = random.nextInt(12);
            List<StreamDataset> streams = new ArrayList<>();
            List<DataLoader> loaders = new ArrayList<>();
            try {
                for (int rank = 0; rank < world; rank++) {
                    streams.add(setting.open());
                    var builder = DataLoader.builder(streams.getLast()).batchSize(batch)
                            .shard(new Shard(rank, world, TailPolicy.EXACT)).workers(random.nextInt(2)).ledger(ledger);
                    loaders.add((state == null ? builder : builder.resume(state)).open());
                }
                for (int step = 0; step < steps; step++) {
                    boolean hasNext = loaders.getFirst().hasNext();
                    List<List<Long>> ranks = new ArrayList<>();
                    for (DataLoader loader : loaders) {
                        assertEquals(hasNext, loader.hasNext(), name);
                        if (hasNext) {
                            ranks.add(ids(loader.next()));
                        }
                    }
                    if (!hasNext) {
                        assertTrue(at == kept.size() || kept.get(at) >= stop, name);
                        break;
                    }
                    List<Long> given = new ArrayList<>();
                    interleave(ranks, given);
                    for (Long id : given) {
                        assertEquals(ids.get(kept.get(at)), id, name + ", place " + at);
                        at++;
                    }
                }
                state = loaders.getFirst().state();
                for (DataLoader loader : loaders) {
                    assertEquals(comparable(state, setting), comparable(loader.state(), setting), name);
                }
                state = LoaderState.fromJson(state.toJson());
                if (random.nextBoolean()) {
                    state = edited(state, random, streams.getFirst(), world, kept, at, indices, computed);
                    stop = stop(state, setting);
                }
            } finally {
                loaders.forEach(DataLoader::close);
                streams.forEach(StreamDataset::close);
            }
        }
        LedgerAudit audit = LedgerAudit.of(ledger, Optional.empty());
        assertEquals(List.of(), audit.problems(), name);
        assertEquals(state.chain(), audit.chain(), name);
    }

    /** Without shuffling, a window ends where a reader waits: ranks may know the same lane from another record on. */
    private static LoaderState comparable(LoaderState state, Setting setting) {
        return setting.window == 0 ? new LoaderState(state.epoch(), state.position(), state.seed(), state.sampler(),
                state.dataset(), List.of(), state.edits(), state.chain()) : state;
    }

    private static int stop(LoaderState state, Setting setting) {
        int stop = Integer.MAX_VALUE;
        for (Edit edit : state.edits()) {
            if (edit instanceof Edit.Until until) {
                stop = (int) (until.endEpoch() * setting.epoch + until.end());
            }
        }
        return stop;
    }

    /** Edits a state and the model. */
    private static LoaderState edited(LoaderState state, Random random, StreamDataset stream, int world,
            List<Integer> kept, int at, List<Long> indices, long computed) {
        int batch = 1 + random.nextInt(4);
        BatchSampler run = state.resume(batches(stream, batch, 0, world));
        StateEdit edit = state.edit(run);
        Set<Integer> cut = new HashSet<>();
        boolean isOneEpoch = run.sampler().epochs() == 1;
        if (isOneEpoch && random.nextBoolean()) {
            int first = random.nextInt(5);
            int last = first + random.nextInt(3);
            try {
                edit = edit.exciseSteps(first, last);
            } catch (IllegalArgumentException _) {              // behind the end of the run
                return state;
            }
            for (int place = at + first * batch * world; place < at + (last + 1) * batch * world; place++) {
                if (place < kept.size()) {
                    cut.add(kept.get(place));
                }
            }
        }
        for (int i = random.nextInt(4); i > 0; i--) {
            int place = random.nextInt((int) Math.max(1, computed));
            if (place < computed) {
                edit = edit.exciseSamples(indices.get(place), indices.get(place));
                cut.add(place);
            }
        }
        List<Integer> given = new ArrayList<>(kept.subList(0, at));
        List<Integer> rest = kept.subList(at, kept.size()).stream().filter(place -> !cut.contains(place)).toList();
        kept.clear();
        kept.addAll(given);
        kept.addAll(rest);
        if (isOneEpoch && random.nextInt(4) == 0) {
            edit = edit.untilStep(1 + random.nextInt(12));
        }
        return edit.state();
    }

    @Test
    void aRecordOfAWindowThatIsCutShortIsRefusedInsteadOfGiven() {
        Setting setting = new Setting(new int[] {45}, 20, 1, 0);
        try (StreamDataset stream = setting.open()) {
            LoaderState edited = LoaderState.before(batches(stream, 5, 0, 1)).edit(batches(stream, 5, 0, 1))
                    .exciseSamples(42, 42).state();
            try (DataLoader loader = DataLoader.builder(stream).batchSize(5).workers(0).resume(edited).open()) {
                BatchException refused = assertThrows(BatchException.class, () -> {
                    while (loader.hasNext()) {
                        loader.next().close();
                    }
                });
                assertTrue(refused.getMessage().contains("record 42 is left out"), refused.getMessage());
            }
        }
    }

    @Test
    void stepsAreNotGivenAgain() {
        Setting setting = new Setting(new int[] {45}, 20, 1, 0);
        try (StreamDataset stream = setting.open()) {
            BatchSampler run = batches(stream, 5, 0, 1);
            LoaderState state = new LoaderState(0, 0, 7, run.sampler().fingerprint(), run.dataset());
            assertThrows(IllegalArgumentException.class, () -> run.edited(List.of(new Edit.Repeat(0, 10, 0, 0, 5))));
            assertThrows(IllegalArgumentException.class, () -> state.edit(run).weights(0.5, 0.5));
        }
    }

    /** The last step of three ranks has surplus rows; the records that the source has later come once. */
    @Test
    void aLedgerIsContinuedWhereAStreamHadEnded() throws Exception {
        LoaderState state = null;
        int given = 0;
        for (int run = 0; run < 2; run++) {
            int world = 3 - run;
            Setting setting = new Setting(new int[] {run == 0 ? 25 : 60}, 8, 1, 0);
            List<LoaderState> states = new ArrayList<>();
            for (int rank = 0; rank < world; rank++) {
                try (StreamDataset stream = setting.open()) {
                    var builder = DataLoader.builder(stream).batchSize(3).workers(0).ledger(folder)
                            .shard(new Shard(rank, world, TailPolicy.EXACT));
                    try (DataLoader loader = (state == null ? builder : builder.resume(state)).open()) {
                        while (loader.hasNext()) {
                            given += ids(loader.next()).size();
                        }
                        states.add(loader.state());
                    }
                }
            }
            state = states.getFirst();
        }
        assertEquals(60, given);
        LedgerAudit audit = LedgerAudit.of(folder, Optional.empty());
        assertEquals(List.of(), audit.problems());
        assertEquals(state.chain(), audit.chain());
    }

    // ---- mixtures

    private static StreamDataset mixture(int lanes, boolean isShuffled, int each) {
        MixtureSource source = MixtureSource.of(new Part(NumberSource.of(lanes, each), 0.5),
                new Part(NumberSource.of(lanes, each), 0.5)).partitioned(lanes);
        StreamDataset.Builder builder = StreamDataset.builder(source).field("id", DType.I64, 2)
                .lanes(lanes);
        return (isShuffled ? builder.shuffle(3, 16) : builder).open();
    }

    /** Source by source, records come one after the other; only how often each source has its turn changes. */
    @Test
    void weightsChangeBehindWhatWasReadAndEachRunReplaysThem() {
        for (int lanes = 1; lanes <= 2; lanes++) {
            for (boolean isShuffled : new boolean[] {true, false}) {
                changeWeights(lanes, isShuffled);
            }
        }
    }

    private static void changeWeights(int lanes, boolean isShuffled) {
        String name = lanes + " lanes, " + (isShuffled ? "shuffled" : "in order");
        List<Long> before = new ArrayList<>();
        LoaderState state;
        try (StreamDataset stream = mixture(lanes, isShuffled, 600);
                DataLoader loader = DataLoader.builder(stream).batchSize(10).workers(0).open()) {
            for (int step = 0; step < 5; step++) {
                before.addAll(ids(loader.next()));
            }
            state = loader.state();
        }
        LoaderState edited;
        try (StreamDataset stream = mixture(lanes, isShuffled, 600)) {
            edited = state.edit(batches(stream, 10, 0, 1)).weights(1, 3).state();
            assertThrows(IllegalArgumentException.class, () ->
                    state.edit(batches(stream, 10, 0, 1)).weights(1, 3, 2));
        }
        long draw = edited.edits().getFirst().position();
        List<List<Long>> runs = new ArrayList<>();
        for (int run = 0; run < 2; run++) {
            List<Long> ids = new ArrayList<>(before);
            LoaderState from = LoaderState.fromJson(edited.toJson());
            while (ids.size() < 600) {                          // with a kill now and then, or without one
                try (StreamDataset stream = mixture(lanes, isShuffled, 600);
                        DataLoader loader = DataLoader.builder(stream).batchSize(5).workers(0).resume(from).open()) {
                    for (int step = 0; step < (run == 0 ? 1000 : 7) && ids.size() < 600; step++) {
                        ids.addAll(ids(loader.next()));
                    }
                    from = loader.state();
                    assertEquals(edited.edits(), from.edits());
                }
            }
            runs.add(ids);
        }
        assertEquals(runs.get(0), runs.get(1), name);
        List<Long> all = runs.getFirst();
        assertEquals(all.size(), new TreeSet<>(all).size() + repeated(all), name);
        double share = all.subList((int) draw, all.size()).size();
        assertTrue(draw >= 50 && draw <= 50 + 2L * 16 * lanes, name + ": " + draw);
        assertTrue(share > 0);
    }

    /** Both sources have the same numbers: each id comes at most twice. */
    private static int repeated(List<Long> ids) {
        Set<Long> seen = new HashSet<>();
        int repeated = 0;
        for (Long id : ids) {
            repeated += seen.add(id) ? 0 : 1;
        }
        return repeated;
    }

    @Test
    void feedbackChangesTheWeightsOfAStream() {
        try (StreamDataset stream = mixture(1, true, 600);
                DataLoader loader = DataLoader.builder(stream).batchSize(10).workers(0).open()) {
            for (int step = 0; step < 3; step++) {
                loader.next().close();
            }
            List<Double> weights = loader.report(Feedback.multiplicative(1), 1.0, 3.0);
            assertTrue(weights.get(1) > weights.get(0), weights.toString());
            for (int step = 0; step < 10; step++) {
                loader.next().close();
            }
            LoaderState state = loader.state();
            assertEquals(1, state.edits().size());
            assertEquals(130, state.position());
            assertFalse(state.toJson().contains("\"weights\""));
        }
    }
}
