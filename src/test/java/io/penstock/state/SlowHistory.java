// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Feedback;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Permutation;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * A random history of a run: steps, kills, other ranks, edits; each step compared with a model that keeps every list in
 * memory. The model knows nothing of pieces or stretches: it removes and inserts elements, and gives every draw of a
 * mixture the next sample that its source has not given.
 */
final class SlowHistory {

    private static final int EPOCHS = 4;

    /** Something to give: a position, and the one whose sample it has. */
    private record Item(int epoch, long position, int ofEpoch, int ofPosition) { }

    /** What a kill goes back to. */
    private record Saved(LoaderState state, List<List<Item>> items, int[][] draws, int epoch, int next,
            Set<Long> excluded, long[] virtual, double[] weights, boolean ended) { }

    private final int seed;
    private final SplittableRandom random;
    private final int size;
    private final int[] sourceSizes;
    private final boolean byChance;
    private final Sampler sampler;
    private final List<Integer> phaseStarts = new ArrayList<>();
    private final List<double[]> phaseWeights = new ArrayList<>();
    private final StringBuilder story = new StringBuilder();

    private List<List<Item>> items = new ArrayList<>();
    /** The sample at each position of each epoch. */
    private int[][] draws;
    private int epoch;
    private int next;
    private Set<Long> excluded = new TreeSet<>();
    private long[] virtual = new long[EPOCHS];
    private double[] weights;
    private boolean ended;

    private LoaderState state;
    private Saved saved;

    SlowHistory(int seed) {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        boolean mixes = random.nextBoolean();
        this.size = 20 + random.nextInt(60);
        this.byChance = random.nextBoolean();
        if (mixes) {
            int sources = 1 + random.nextInt(3);
            sourceSizes = IntStream.range(0, sources).map(_ -> 1 + random.nextInt(40)).toArray();
            weights = IntStream.range(0, sources).mapToDouble(_ -> 1 + random.nextInt(5)).toArray();
            Mixture.Source[] all = new Mixture.Source[sources];
            for (int s = 0; s < sources; s++) {
                all[s] = new Mixture.Source(Sampler.shuffled(sourceSizes[s], seed + s), weights[s]);
            }
            Mixture mixture = Mixture.of(size, all);
            phaseStarts.add(0);
            phaseWeights.add(weights);
            if (random.nextBoolean()) {
                double[] other = IntStream.range(0, sources).mapToDouble(_ -> 1 + random.nextInt(5)).toArray();
                phaseStarts.add(1 + random.nextInt(size - 1));
                phaseWeights.add(other);
                mixture = mixture.then(phaseStarts.getLast(), other);
            }
            sampler = byChance ? mixture.byChance(seed) : mixture;
        } else {
            sourceSizes = new int[] {size};
            weights = null;
            sampler = random.nextInt(3) == 0 ? Sampler.withReplacement(size, size, seed)
                    : random.nextBoolean() ? Sampler.sequential(size) : Sampler.shuffled(size, seed);
        }
        draws = new int[EPOCHS][size];
        for (int e = 0; e < EPOCHS; e++) {
            List<Item> all = new ArrayList<>();
            for (int p = 0; p < size; p++) {
                draws[e][p] = (int) sampler.epoch(e).at(p);
                all.add(new Item(e, p, e, p));
            }
            items.add(all);
        }
    }

    void go() {
        state = LoaderState.before(batches(1, 1, TailPolicy.PAD));
        save();
        try {
            for (int attempt = 0; attempt < 8 && epoch < EPOCHS - 1 && !isOver(); attempt++) {
                attempt();
            }
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("history " + seed + " of " + sampler.fingerprint() + ":\n" + story
                    + state.toJson(), e);
        }
    }

    private boolean isOver() {
        return ended && ahead().isEmpty() && IntStream.range(epoch + 1, EPOCHS).allMatch(e -> view(e).isEmpty());
    }

    private BatchSampler batches(int batch, int world, TailPolicy tail) {
        return BatchSampler.of(sampler, batch, new Shard(0, world, tail)).withDataset("d");
    }

    private void attempt() {
        int world = 1 + random.nextInt(4);
        int batch = 1 + random.nextInt(3);
        TailPolicy tail = TailPolicy.values()[random.nextInt(3)];
        BatchSampler run = batches(batch, world, tail);
        for (int edits = random.nextInt(3); edits > 0; edits--) {
            edit(run, batch, world, tail);
        }
        state = LoaderState.fromJson(state.toJson());
        story.append("resume ").append(state.epoch()).append(' ').append(state.position()).append(", world ")
                .append(world).append(", batch ").append(batch).append(' ').append(tail).append('\n');
        BatchSampler resumed = state.resume(run);
        List<BatchSampler> ranks = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            ranks.add(resumed.ofRank(rank));
        }
        int steps = random.nextInt(25);
        for (int step = 0; step < steps; step++) {
            skipEmpty(world, tail);
            if (epoch >= EPOCHS - 1 || isOver()) {
                break;
            }
            step(ranks, step, batch, world, tail);
            state = LoaderState.after(resumed, step);
            if (random.nextInt(5) == 0) {
                save();
            }
        }
        if (random.nextInt(3) == 0) {
            story.append("kill\n");
            restore();
        }
    }

    /** Goes to the next epoch where the ranks have nothing left to take of this one. */
    private void skipEmpty(int world, TailPolicy tail) {
        while (epoch < EPOCHS - 1 && (tail == TailPolicy.DROP ? ahead().size() / world : ahead().size()) == 0
                && !isOver()) {
            nextEpoch();
        }
    }

    private void nextEpoch() {
        items.set(epoch, view(epoch));
        epoch++;
        next = 0;
    }

    private void step(List<BatchSampler> ranks, long number, int batch, int world, TailPolicy tail) {
        List<Item> ahead = ahead();
        int rows = Math.min(batch, tail == TailPolicy.DROP ? ahead.size() / world : Math.ceilDiv(ahead.size(), world));
        BatchPlan plan = new BatchPlan(batch);
        for (int rank = 0; rank < world; rank++) {
            ranks.get(rank).plan(number, plan);
            assertEquals(epoch, plan.epoch(), "epoch");
            assertEquals(rows, plan.count(), "rows of rank " + rank);
            for (int row = 0; row < rows; row++) {
                int at = row * world + rank;
                if (at < ahead.size()) {
                    assertEquals(ahead.get(at).position, plan.position(row), "position");
                    assertEquals(sample(ahead.get(at)), plan.sample(row), "sample");
                } else {
                    List<Item> all = view(epoch);
                    assertEquals(sample(all.get((all.size() - ahead.size() + at) % all.size())), plan.sample(row),
                            "surplus sample");
                }
            }
        }
        List<Item> kept = new ArrayList<>(items.get(epoch).subList(0, next));
        int given = Math.min(ahead.size(), rows * world);
        kept.addAll(ahead.subList(0, given));
        int after = items.get(epoch).size();
        if (given < ahead.size()) {
            after = items.get(epoch).indexOf(ahead.get(given));
        }
        int newNext = kept.size();
        kept.addAll(items.get(epoch).subList(after, items.get(epoch).size()));
        items.set(epoch, kept);
        next = newNext;
        if (given == ahead.size() || tail == TailPolicy.DROP && (ahead.size() - given) / world == 0) {
            if (!(ended && IntStream.range(epoch + 1, EPOCHS).allMatch(e -> items.get(e).isEmpty()))) {
                nextEpoch();
            } else {
                items.set(epoch, new ArrayList<>(kept.subList(0, newNext)));
            }
        }
    }

    private int sample(Item item) {
        return draws[item.ofEpoch][item.ofPosition];
    }

    private List<Item> ahead() {
        return items.get(epoch).subList(next, items.get(epoch).size()).stream()
                .filter(item -> !excluded.contains((long) sample(item))).toList();
    }

    /** What is given of an epoch, as it is now known. */
    private List<Item> view(int of) {
        if (of < epoch) {
            return items.get(of);
        }
        List<Item> all = new ArrayList<>(of == epoch ? items.get(of).subList(0, next) : List.of());
        items.get(of).subList(all.size(), items.get(of).size()).stream()
                .filter(item -> !excluded.contains((long) sample(item))).forEach(all::add);
        return all;
    }

    /** The items of steps of the edited run from its beginning, by ranks and batches as they are now. */
    private List<Item> steps(long first, long last, int batch, int world, TailPolicy tail) {
        List<Item> found = new ArrayList<>();
        long number = 0;
        for (int e = 0; e < EPOCHS; e++) {
            List<Item> all = view(e);
            int rows = tail == TailPolicy.DROP ? all.size() / world : Math.ceilDiv(all.size(), world);
            for (int row = 0; row < rows; row += batch, number++) {
                if (number >= first && number <= last) {
                    found.addAll(all.subList(row * world, Math.min(all.size(), Math.min(rows, row + batch) * world)));
                }
            }
        }
        return found;
    }

    private long stepsOf(int epochs, int batch, int world, TailPolicy tail) {
        long steps = 0;
        for (int e = 0; e < epochs; e++) {
            int all = view(e).size();
            steps += Math.ceilDiv(tail == TailPolicy.DROP ? all / world : Math.ceilDiv(all, world), batch);
        }
        return steps;
    }

    private void edit(BatchSampler run, int batch, int world, TailPolicy tail) {
        StateEdit edit = state.edit(run);
        long mostSteps = stepsOf(EPOCHS - 1, batch, world, tail);
        if (mostSteps < 3) {
            return;
        }
        long first = random.nextLong(mostSteps);
        long last = Math.min(mostSteps - 1, first + random.nextInt(6));
        switch (random.nextInt(ended ? 5 : 6)) {
            case 0 -> {
                story.append("excise steps ").append(first).append("..").append(last).append('\n');
                Set<Item> cut = new HashSet<>(steps(first, last, batch, world, tail));
                for (int e = epoch; e < EPOCHS; e++) {
                    List<Item> kept = new ArrayList<>(items.get(e));
                    kept.subList(e == epoch ? next : 0, kept.size()).removeIf(cut::contains);
                    items.set(e, kept);
                }
                state = edit.exciseSteps(first, last).state();
            }
            case 1 -> {
                long samples = sampler.datasetSize();
                long from = random.nextLong(samples);
                long end = Math.min(samples - 1, from + random.nextInt(5));
                if (excluded.size() + end - from + 1 > samples / 3) {
                    return;
                }
                story.append("excise samples ").append(from).append("..").append(end).append('\n');
                for (long sample = from; sample <= end; sample++) {
                    excluded.add(sample);
                }
                state = edit.exciseSamples(from, end).state();
            }
            case 2 -> {
                long given = stepsOf(epoch, batch, world, tail) + next / (batch * world);
                if (given == 0 || ended && ahead().isEmpty()) {
                    return;
                }
                first = random.nextLong(given);
                last = Math.min(given - 1, first + random.nextInt(3));
                story.append("repeat steps ").append(first).append("..").append(last).append('\n');
                List<Item> again = steps(first, last, batch, world, tail);
                if (state.position() == 0) {
                    epoch--;
                    next = items.get(epoch).size();
                }
                List<Item> changed = new ArrayList<>(items.get(epoch));
                int at = firstAhead();
                for (Item item : again) {
                    changed.add(at++, new Item(epoch, size + virtual[epoch]++, item.ofEpoch, item.ofPosition));
                }
                items.set(epoch, changed);
                state = edit.repeatSteps(first, last).state();
            }
            case 3, 4 -> {
                if (weights == null) {
                    return;
                }
                double[] before = weights;
                double[] numbers = Arrays.stream(weights).map(_ -> random.nextInt(9)).toArray();
                if (random.nextBoolean()) {
                    weights = Arrays.stream(weights).map(_ -> random.nextInt(5)).toArray();
                    weights[random.nextInt(weights.length)] = 3;
                    state = edit.weights(weights).state();
                } else {
                    state = edit.feedback(Feedback.multiplicative(0.3), before, numbers).state();
                    weights = ((Edit.Reweigh) state.edits().getLast()).weights().stream().mapToDouble(w -> w).toArray();
                }
                story.append("weights ").append(Arrays.toString(weights)).append('\n');
                Edit change = state.edits().getLast();
                redraw((int) change.epoch(), (int) change.position());
            }
            default -> {
                long end = stepsOf(epoch, batch, world, tail) + 1 + random.nextInt(30);
                if (end >= mostSteps || end * batch * world < size) {
                    return;
                }
                List<Item> kept = steps(0, end - 1, batch, world, tail);
                if (kept.isEmpty() || kept.getLast().epoch < epoch
                        || kept.getLast().epoch == epoch && view(epoch).indexOf(kept.getLast()) < next) {
                    return;
                }
                story.append("until step ").append(end).append('\n');
                state = edit.untilStep(end).state();
                int lastEpoch = kept.getLast().epoch;
                List<Item> all = items.get(lastEpoch);
                boolean whole = ((Edit.Until) state.edits().getLast()).endEpoch() > lastEpoch;
                if (!whole) {
                    items.set(lastEpoch, new ArrayList<>(all.subList(0, all.indexOf(kept.getLast()) + 1)));
                }
                for (int e = lastEpoch + 1; e < EPOCHS; e++) {
                    items.set(e, new ArrayList<>());
                }
                ended = true;
            }
        }
    }

    private int firstAhead() {
        List<Item> ahead = ahead();
        return ahead.isEmpty() ? items.get(epoch).size() : items.get(epoch).indexOf(ahead.getFirst());
    }

    /** Draws anew from a draw on: each source gives what it has not given, in its own order. */
    private void redraw(int fromEpoch, int fromDraw) {
        List<List<Integer>> given = givenBefore(fromEpoch, fromDraw);
        int[] starts = new int[sourceSizes.length];
        for (int s = 1; s < starts.length; s++) {
            starts[s] = starts[s - 1] + sourceSizes[s - 1];
        }
        long[] whole = lowest(weights);
        long period = Arrays.stream(whole).sum();
        int count = EPOCHS * size - (fromEpoch * size + fromDraw);
        long block = byChance ? Math.ceilDiv(1024, period) * period : 1;
        Pattern pattern = new Pattern(whole, (int) (Math.ceilDiv(count, block) * block));
        List<int[]> unused = new ArrayList<>();
        for (int s = 0; s < whole.length; s++) {
            Set<Integer> before = new HashSet<>(given.get(s));
            unused.add(IntStream.iterate(0, k -> k + 1).filter(k -> !before.contains(k)).limit(pattern.drawn[s])
                    .toArray());
        }
        long key = key(seed, fromEpoch, 0x52455745494748L) + fromDraw;
        for (int i = 0; i < count; i++) {
            int draw = i;
            if (byChance) {
                draw = (int) (i / block * block + new Permutation(block, key, i / block).at(i % block));
            }
            int s = pattern.sources[draw];
            int k = unused.get(s)[pattern.ranks[draw]];
            int at = fromEpoch * size + fromDraw + i;
            int n = sourceSizes[s];
            draws[at / size][at % size] = starts[s] + (int) new Permutation(n, seed + s, k / n).at(k % n);
            ofSource[at / size][at % size] = k;
        }
    }

    /** Which draw of its source each draw is. */
    private int[][] ofSource;

    private List<List<Integer>> givenBefore(int beforeEpoch, int beforeDraw) {
        if (ofSource == null || state.edits().stream().filter(Edit.Reweigh.class::isInstance).count() == 1) {
            ofSource = new int[EPOCHS][size];
            number();
        }
        List<List<Integer>> given = new ArrayList<>();
        for (int s = 0; s < sourceSizes.length; s++) {
            given.add(new ArrayList<>());
        }
        for (int at = 0; at < beforeEpoch * size + beforeDraw; at++) {
            given.get(sourceOf(draws[at / size][at % size])).add(ofSource[at / size][at % size]);
        }
        return given;
    }

    private int sourceOf(int sample) {
        int s = 0;
        int left = sample;
        while (left >= sourceSizes[s]) {
            left -= sourceSizes[s++];
        }
        return s;
    }

    /** Numbers the draws of a mixture whose weights were not changed, phase by phase. */
    private void number() {
        long[] before = new long[sourceSizes.length];
        for (int e = 0; e < EPOCHS; e++) {
            for (int f = 0; f < phaseWeights.size(); f++) {
                int first = phaseStarts.get(f);
                int count = (f + 1 < phaseStarts.size() ? phaseStarts.get(f + 1) : size) - first;
                long[] whole = lowest(phaseWeights.get(f));
                Pattern pattern = new Pattern(whole, count);
                long period = Arrays.stream(whole).sum();
                long block = Math.ceilDiv(65_536, period) * period;
                long key = key(seed, e, 0x4D49585455524553L) + f;
                for (int i = 0; i < count; i++) {
                    long q = i / block;
                    int draw = !byChance ? i : (int) (q * block
                            + new Permutation(Math.min(block, count - q * block), key, q).at(i % block));
                    ofSource[e][first + i] = (int) (before[pattern.sources[draw]] + pattern.ranks[draw]);
                }
                for (int s = 0; s < before.length; s++) {
                    before[s] += pattern.drawn[s];
                }
            }
        }
    }

    private static long[] lowest(double[] weights) {
        long[] whole = Arrays.stream(weights).mapToLong(weight -> (long) weight).toArray();
        long divisor = Arrays.stream(whole).reduce(0, SlowHistory::gcd);
        return Arrays.stream(whole).map(weight -> weight / divisor).toArray();
    }

    /** The sources of draws by the greatest error, and which of its draws each is. */
    private static final class Pattern {

        final int[] sources;
        final int[] ranks;
        final long[] drawn;

        Pattern(long[] whole, int count) {
            sources = new int[count];
            ranks = new int[count];
            drawn = new long[whole.length];
            long period = Arrays.stream(whole).sum();
            for (int i = 0; i < count; i++) {
                int best = -1;
                for (int s = 0; s < whole.length; s++) {
                    if (whole[s] > 0 && (best < 0 || whole[s] * Math.max(i, 1) - period * drawn[s]
                            > whole[best] * Math.max(i, 1) - period * drawn[best])) {
                        best = s;
                    }
                }
                sources[i] = best;
                ranks[i] = (int) drawn[best]++;
            }
        }
    }

    private static long key(long seed, long epoch, long tag) {
        return first(first(first(seed) + epoch) + tag);
    }

    private static long first(long state) {
        long z = state + 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    private void save() {
        saved = new Saved(state, copy(items), copy(draws), epoch, next, new TreeSet<>(excluded), virtual.clone(),
                weights == null ? null : weights.clone(), ended);
        savedNumbers = ofSource == null ? null : copy(ofSource);
    }

    private int[][] savedNumbers;

    private void restore() {
        state = saved.state;
        items = copy(saved.items);
        draws = copy(saved.draws);
        epoch = saved.epoch;
        next = saved.next;
        excluded = new TreeSet<>(saved.excluded);
        virtual = saved.virtual.clone();
        weights = saved.weights == null ? null : saved.weights.clone();
        ended = saved.ended;
        ofSource = savedNumbers == null ? null : copy(savedNumbers);
    }

    private static List<List<Item>> copy(List<List<Item>> of) {
        return new ArrayList<>(of.stream().<List<Item>>map(ArrayList::new).toList());
    }

    private static int[][] copy(int[][] of) {
        return Arrays.stream(of).map(int[]::clone).toArray(int[][]::new);
    }
}
