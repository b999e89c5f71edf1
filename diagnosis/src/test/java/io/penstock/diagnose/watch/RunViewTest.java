// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Who is named, why, and how it looks. */
class RunViewTest {

    private static final long NOW = 1_000_500;

    private static RunView view(RankStatus... ranks) {
        return new RunView.History(2.5).add(List.of(Statuses.answer(ranks)), NOW);
    }

    private static RunView view(int ranks, IntFunction<RankStatus> status) {
        RankStatus[] all = new RankStatus[ranks];
        for (int i = 0; i < ranks; i++) {
            all[i] = status.apply(i);
        }
        return view(all);
    }

    /** Ranks that wait for each other in their backward pass, which is not marked. */
    private static RankStatus together(int rank, int slow, String what, double millis) {
        return rank == slow ? Statuses.of(rank, 64, Double.NaN, what, millis, "compute", 20, "residual", 8)
                : Statuses.of(rank, 64, Double.NaN, "decode", 51.7, "compute", millis + 28 - 51.7 - 8, "residual", 8);
    }

    @Test
    void theStragglerIsFirstWithItsCause() {
        RunView view = view(64, rank -> together(rank, 3, "decode", 212));
        assertEquals("rank 3: decode 4.1 × the median, 212 of 240 ms", String.join("; ", view.stragglers()));
        assertEquals(3, view.ranks().getFirst().status().rank());
        assertEquals(0, view.ranks().get(1).status().rank());
        assertEquals("rank 9: read blocked the others have none, 100 of 128 ms",
                view(64, rank -> together(rank, 9, "read_blocked", 100)).stragglers().getFirst());
    }

    @Test
    void severalRanksAreNamedAtOnceEachWithItsOwnCauseAndTheSilentOneBehindThem() {
        var history = new RunView.History(Double.NaN);
        RankStatus[] all = new RankStatus[64];
        for (int rank = 0; rank < 64; rank++) {
            all[rank] = switch (rank) {
                case 6 -> Statuses.of(rank, 64, Double.NaN, "decode", 120, "compute", 250);
                case 13 -> Statuses.of(rank, 64, Double.NaN, "read_blocked", 110, "compute", 250);
                case 46 -> Statuses.of(rank, 64, Double.NaN, "compute", 500);
                case 26 -> Statuses.idle(Statuses.of(rank, 64, Double.NaN, "compute", 250), 21, "");
                default -> Statuses.of(rank, 64, Double.NaN, "decode", 1 + rank / 64.0, "compute", 250);
            };
        }
        RunView view = history.add(List.of(Statuses.answer(all)), NOW);
        assertEquals(List.of(6, 13, 46, 26, 0), view.ranks().stream().limit(5).map(row -> row.status().rank())
                .toList());
        assertEquals(3, view.stragglers().size());
        assertTrue(view.stragglers().get(1).startsWith("rank 13: read blocked the others have none, 110 of 360 ms"),
                view.stragglers().toString());
        assertTrue(view.ranks().get(2).note().startsWith("compute 2.0 × the median"), view.ranks().get(2).note());
        assertEquals("silent for 21 s", view.ranks().get(3).note());
        List<String> lines = RunText.of(view, 80, 24);
        assertEquals(3, lines.stream().filter(line -> line.startsWith("SLOW")).count(), lines.toString());
        assertEquals(24, lines.size());
    }

    @Test
    void withMarkedBackwardPassesComputingIsNamedToo() {
        // All steps take 100 ms; rank 1 computes for 70 of them, the others for 40 and wait for it.
        RunView view = view(4, rank -> Statuses.of(rank, 4, rank == 1 ? 20 : 50, "compute", 90, "residual", 10));
        assertEquals("rank 1: compute 1.8 × the median, 70.0 of 100 ms", String.join("; ", view.stragglers()));
    }

    @Test
    void aRankWhoseStepIsLongerIsNamedWithoutMarks() {
        assertEquals("rank 1: compute 1.5 × the median, 60.0 of 61.0 ms", view(
                Statuses.of(0, 2, Double.NaN, "compute", 40, "residual", 1),
                Statuses.of(1, 2, Double.NaN, "compute", 60, "residual", 1)).stragglers().getFirst());
    }

    @Test
    void healthyRanksAreNotNamed() {
        var random = new Random(5);
        for (int run = 0; run < 20; run++) {
            RunView view = view(64, rank -> Statuses.of(rank, 64, Double.NaN, "decode",
                    5 * Math.exp(0.1 * random.nextGaussian()), "compute", 90 + random.nextGaussian(), "residual", 2));
            assertEquals(List.of(), view.stragglers());
        }
        assertEquals(List.of(), view(Statuses.of(0, 1, Double.NaN, "decode", 50, "compute", 5)).stragglers());
        assertEquals(List.of(), new RunView.History(1).add(List.of(), NOW).stragglers());
    }

    @Test
    void aRankThatAnswersNoMoreIsSilentAndStays() {
        var history = new RunView.History(Double.NaN);
        RankStatus first = Statuses.of(0, 2, Double.NaN, "compute", 10);
        RankStatus second = Statuses.of(1, 2, Double.NaN, "compute", 10);
        history.add(List.of(Statuses.answer(first, second)), NOW);
        for (int i = 1; i <= 10; i++) {
            RunView view = history.add(List.of(Statuses.answer(Statuses.at(first, NOW + 2000 * i)),
                    new Peers.Reply("node1:9464", List.of(), "no answer")), NOW + 2000 * i);
            assertEquals(2, view.ranks().size());
            assertEquals(i >= 8 ? 1 : 0, view.ranks().getFirst().status().rank());
            assertEquals(i >= 8, view.ranks().getFirst().note().startsWith("silent for "));
            assertEquals(List.of("node1:9464: no answer"), view.problems());
        }
    }

    @Test
    void aRankThatAnswersButTakesNoStepIsSilentUnlessItSaysWhatItDoes() {
        RankStatus rank = Statuses.of(1, 2, Double.NaN, "compute", 10);
        RankStatus other = Statuses.of(0, 2, Double.NaN, "compute", 10);
        assertEquals("silent for 90 s", view(other, Statuses.idle(rank, 90, "")).ranks().getFirst().note());
        RunView evaluating = view(other, Statuses.idle(rank, 90, "evaluation"));
        assertEquals(0, evaluating.ranks().getFirst().status().rank());
        assertEquals("evaluation", evaluating.ranks().getLast().note());
        // A file that nobody changes, of a run that ended long before.
        RunView old = new RunView.History(1).add(List.of(Statuses.answer(rank)), NOW + 3_600_000);
        assertTrue(old.ranks().getFirst().silentSeconds() > 3_000);
    }

    @Test
    void ofTwoThatSayTheyAreOneRankTheSecondIsAProblem() {
        RunView view = view(Statuses.of(0, 2, Double.NaN, "compute", 10), Statuses.of(0, 2, Double.NaN, "decode", 10));
        assertEquals(1, view.ranks().size());
        assertEquals(List.of("here: a second rank 0, which is left out"), view.problems());
    }

    @Test
    void waitingIsPricedOverAllRanks() {
        RunView view = view(100, rank -> Statuses.of(rank, 100, Double.NaN, "compute", 10));
        assertEquals(1, view.waitedGpuHours(), 1e-9);
        assertEquals(2.5, view.waitedMoney(), 1e-9);
    }

    @Test
    void itFitsATerminalWithOneRankAndWithFiveHundredAndTwelve() {
        for (int ranks : List.of(1, 2, 18, 19, 512)) {
            List<Peers.Reply> answers = new ArrayList<>();
            for (int i = 0; i < ranks; i++) {
                answers.add(Statuses.answer(together(i, 3, "decode", 212)));
            }
            for (int i = 0; i < 7; i++) {
                answers.add(new Peers.Reply("a-machine-with-a-long-name.of.a.cluster.example.com:9464", List.of(),
                        "found no status of a rank: something that is longer than the line has room for"));
            }
            List<String> lines = RunText.of(new RunView.History(2.5).add(answers, NOW), 80, 24);
            assertTrue(lines.size() <= 24, () -> String.join("\n", lines));
            assertTrue(lines.stream().allMatch(line -> line.length() <= 80), () -> String.join("\n", lines));
            assertTrue(lines.stream().anyMatch(line -> line.matches(" *[03] .*")), () -> String.join("\n", lines));
        }
        List<String> lines = RunText.of(view(64, rank -> together(rank, 3, "decode", 212)), 80, 24);
        assertEquals("gpt  64 ranks  4.17 steps/s  8533 samples/s  waited 0.64 GPU h (1.60)", lines.getFirst());
        assertEquals("SLOW  rank 3: decode 4.1 × the median, 212 of 240 ms", lines.get(1));
        assertEquals("d decode  = compute  . residual", lines.get(2));
        assertEquals("    3    4.17    240.0  dddddddddddddddddd" + "d==." + "  90%   20.0G    3.0G decode 4.1 …",
                lines.get(4));
        assertEquals("      and 45 more ranks", lines.getLast());
    }
}
