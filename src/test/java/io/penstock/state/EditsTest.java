// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Feedback;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class EditsTest {

    private static final int HISTORIES = Thorough.times(100, 1000);

    private static BatchSampler run(Sampler sampler, int batch, int world) {
        return BatchSampler.of(sampler, batch, new Shard(0, world, TailPolicy.EXACT)).withDataset("d");
    }

    private static long[] samples(BatchSampler run, long number) {
        BatchPlan plan = new BatchPlan(run.batchSize());
        run.plan(number, plan);
        return Arrays.copyOf(plan.samples(), plan.count());
    }

    @Test
    void excisedStepsAreSkippedWholeAndNothingElseMoves() {
        BatchSampler run = run(Sampler.shuffled(10_000, 3), 8, 4);
        LoaderState state = LoaderState.after(run, 99);
        LoaderState edited = state.edit(run).exciseSteps(110, 120).state();
        BatchSampler before = state.resume(run);
        BatchSampler after = edited.resume(run);
        for (int step = 0; step < 200; step++) {
            assertEquals(Arrays.toString(samples(before, step < 10 ? step : step + 11)),
                    Arrays.toString(samples(after, step)));
        }
        for (int rank = 1; rank < 4; rank++) {
            assertEquals(Arrays.toString(samples(before.ofRank(rank), 21)),
                    Arrays.toString(samples(after.ofRank(rank), 10)));
        }
        assertEquals(LoaderState.after(before, 50).position(), LoaderState.after(after, 39).position());
    }

    @Test
    void positionsOfRandomNumbersStay() {
        BatchSampler run = run(Sampler.shuffled(1000, 3), 8, 1);
        BatchSampler after = LoaderState.before(run).edit(run).exciseSteps(1, 1).exciseSamples(5, 9).state()
                .resume(run);
        BatchPlan plan = new BatchPlan(8);
        for (int step = 0; step < 100; step++) {
            after.plan(step, plan);
            for (int row = 0; row < plan.count(); row++) {
                assertEquals(run.order(0).at(plan.position(row)), plan.sample(row));
            }
        }
    }

    @Test
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void editsThatLeaveOutAllSamplesAreRefusedAndNoEndlessSearch() {
        BatchSampler run = run(Mixture.of(400, new Mixture.Source(Sampler.shuffled(100, 1), 0.7),
                new Mixture.Source(Sampler.sequential(50), 0.3)), 2, 1);
        StateEdit all = LoaderState.after(run, 9).edit(run);
        String message = assertThrows(IllegalStateException.class, () -> all.exciseSamples(0, 149).state()
                .resume(run)).getMessage();
        assertTrue(message.startsWith("found no sample in epochs 0 to "), message);
    }

    @Test
    void aStateWithoutEditsHasTheBytesOfBefore() {
        assertEquals("{\"penstock_state\":1,\"epoch\":0,\"position\":0,\"seed\":3,\"sampler\":\"feistel-8 size=10"
                + " seed=3\",\"dataset\":\"d\"}", LoaderState.before(run(Sampler.shuffled(10, 3), 2, 1)).toJson());
    }

    @Test
    void anEditedStateReadsBack() {
        Mixture mix = Mixture.of(400, new Mixture.Source(Sampler.shuffled(100, 1), 0.7),
                new Mixture.Source(Sampler.sequential(50), 0.3));
        BatchSampler run = run(mix, 2, 1);
        LoaderState state = LoaderState.after(run, 30);
        Feedback rule = Feedback.multiplicative(0.5);
        LoaderState edited = state.edit(run).exciseSteps(40, 41).exciseSamples(7, 9).repeatSteps(3, 4).untilStep(900)
                .weights(0.5, 0.25).feedback(rule, new double[] {1, 2}, 0.1, 3)
                .feedback(rule, new double[] {1, 2}, 9, 3).state().withChain("0123456789abcdef0123456789abcdef");
        assertEquals(edited, LoaderState.fromJson(edited.toJson()));
        assertEquals(edited.toJson(), LoaderState.fromJson(edited.toJson()).toJson());
        assertTrue(edited.toJson().contains("{\"excise\":[0,80,84],\"at\":[0,62]}"), edited.toJson());
        edited.resume(run);
        String other = edited.toJson().replace("[0,80,84]", "[0,80,85]");
        assertTrue(assertThrows(StateMismatchException.class, () -> LoaderState.fromJson(other).resume(run))
                .getMessage().contains("sampler"));
    }

    @Test
    void aFeedbackIsAtMostSixteenBytes() {
        double[] weights = new double[8];
        Arrays.fill(weights, 1);
        Sampler[] sources = new Sampler[8];
        Arrays.fill(sources, Sampler.sequential(1000));
        Mixture mix = Mixture.of(1 << 30, Arrays.stream(sources).map(source -> new Mixture.Source(source, 1))
                .toArray(Mixture.Source[]::new));
        BatchSampler run = run(mix, 32, 8);
        LoaderState state = LoaderState.before(run);
        int length = 0;
        for (int change = 0; change < 20; change++) {
            state = LoaderState.after(state.resume(run), 999);
            state = state.edit(run).feedback(Feedback.multiplicative(1), weights, 1, 2, 3, 4, 5, 6, 7, change).state();
            if (change == 0) {
                length = state.toJson().length();
            }
        }
        assertTrue(state.toJson().length() - length <= 19 * 16 * 4 / 3 + 24, state.toJson());
    }

    @Test
    void sourcesAreAdded() {
        Sampler a = Sampler.shuffled(100, 1);
        Sampler b = Sampler.shuffled(50, 2);
        BatchSampler two = run(Mixture.of(400, new Mixture.Source(a, 0.7), new Mixture.Source(b, 0.3)), 2, 1)
                .withDataset("concatenated:[a][b]");
        BatchSampler three = run(Mixture.of(400, new Mixture.Source(a, 0.7), new Mixture.Source(b, 0.3),
                new Mixture.Source(Sampler.shuffled(10, 3), 0)), 2, 1).withDataset("concatenated:[a][b][c]");
        LoaderState state = LoaderState.after(two, 49);
        assertThrows(StateMismatchException.class, () -> state.resume(three));
        LoaderState added = state.extended(three).edit(three).weights(0.4, 0.3, 0.3).state();
        BatchSampler after = added.resume(three);
        long[] drawn = new long[3];
        for (int step = 0; step < 50; step++) {
            for (long sample : samples(after, step)) {
                drawn[sample < 100 ? 0 : sample < 150 ? 1 : 2]++;
            }
        }
        assertEquals("[40, 30, 30]", Arrays.toString(drawn));
        assertEquals(LoaderState.after(after, 10), LoaderState.fromJson(LoaderState.after(after, 10).toJson()));
        LoaderState.after(after, 10).resume(three);
    }

    @Test
    void budgetsAndEditsGoTogether() {
        Sampler order = Sampler.shuffled(500, 3);
        BatchSampler run = BatchSampler.of(order, TokenBudget.padded(64), sample -> 1 + sample % 17,
                new Shard(0, 2, TailPolicy.EXACT)).withDataset("d");
        LoaderState edited = LoaderState.after(run, 9).edit(run).exciseSamples(100, 199).exciseSteps(12, 13).state();
        List<Long> given = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            BatchSampler of = edited.resume(run.ofRank(rank));
            BatchPlan plan = new BatchPlan(of.batchSize());
            for (long step = 0; of.epochOf(step) == 0; step++) {
                of.plan(step, plan);
                for (int row = 0; row < plan.valid(); row++) {
                    given.add(plan.position(row));
                }
            }
        }
        List<Long> expected = LongStream.range(edited.position(), 500)
                .filter(position -> order.epoch(0).at(position) < 100 || order.epoch(0).at(position) > 199)
                .filter(position -> edited.edits().stream().noneMatch(edit -> edit instanceof Edit.Excise cut
                        && position >= cut.from() && position < cut.end())).boxed().toList();
        given.sort(null);
        assertEquals(expected, given);
    }

    @Test
    void randomHistoriesEqualThoseOfAModelThatKeepsEveryList() {
        for (int seed = 0; seed < HISTORIES; seed++) {
            new SlowHistory(seed).go();
        }
    }

    @Test
    void mixturesAreFarFromSlowWithManyChanges() {
        Mixture mix = Mixture.of(1 << 20, new Mixture.Source(Sampler.shuffled(1000, 1), 1),
                new Mixture.Source(Sampler.shuffled(500, 2), 1));
        BatchSampler run = run(mix, 32, 4);
        List<Edit> edits = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 5000; i++) {
            edits.add(new Edit.Reweigh(0, 128L * i, List.of(1.0 + random.nextInt(20), 1.0 + random.nextInt(20)), true));
        }
        BatchSampler edited = run.edited(edits);
        long[] drawn = new long[1500];
        for (int p = 0; p < 640_000; p++) {
            drawn[(int) edited.order(0).at(p)]++;
        }
        long most = Arrays.stream(drawn).limit(1000).max().orElseThrow();
        long least = Arrays.stream(drawn).limit(1000).min().orElseThrow();
        assertTrue(most - least <= 1, most + " " + least);
    }
}
