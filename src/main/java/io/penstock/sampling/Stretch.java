// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.SplitMix64;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The draws of a mixture from one change of its weights to the next, over all epochs. The pattern of the proportions
 * begins at the change, and each source gives its draws from where it was.
 *
 * <p>Where draws are shuffled in blocks, a change may cut a block. The draws of a source that the rest of the block
 * would have given come first, in their own order, then those after the block: none is lost or given twice.
 */
final class Stretch {

    /** The draws, without end, so that no block is shortened. */
    private static final long ENDLESS = Sampler.MAX_SIZE;

    /** The smallest block of shuffled draws: a change keeps up to 8 bytes for each. */
    private static final int MIN_BLOCK = 1 << 10;

    /** Separates the order of draws from those of phases. */
    private static final long TAG = 0x52455745494748L;                     // "REWEIGH"

    final long epoch;
    final long firstDraw;
    final Proportions proportions;
    /** Draws of each source that a block has left over, ascending. */
    private final long[][] left;
    /** The draw of each source after those. */
    private final long[] next;
    private final long block;
    private final @Nullable WindowedShuffle shuffle;

    /** Begins a stretch; the seed shuffles the draws if they are. */
    Stretch(long epoch, long firstDraw, Proportions proportions, long[][] left, long[] next, boolean shuffled,
            long seed) {
        this.epoch = epoch;
        this.firstDraw = firstDraw;
        this.proportions = proportions;
        this.left = left;
        this.next = next;
        this.block = shuffled ? Math.ceilDiv(MIN_BLOCK, proportions.period()) * (long) proportions.period() : 1;
        this.shuffle = shuffled ? new WindowedShuffle(ENDLESS, block, SplitMix64.key(seed, epoch, TAG) + firstDraw)
                : null;
    }

    /** Whether it begins at or before a draw of an epoch. */
    boolean beginsBy(long ofEpoch, long draw) {
        return epoch < ofEpoch || epoch == ofEpoch && firstDraw <= draw;
    }

    /** Returns the number of a draw in the stretch. */
    private long number(long ofEpoch, long draw, long size) {
        return Math.addExact(Math.multiplyExact(ofEpoch - epoch, size), draw - firstDraw);
    }

    /** Returns the draw in the pattern of the proportions. */
    long patterned(long ofEpoch, long draw, long size) {
        long number = number(ofEpoch, draw, size);
        return shuffle == null ? number : shuffle.at(number);
    }

    /** Returns which draw of its source a draw of the pattern is, counted through all epochs. */
    long ofSource(int source, long patterned) {
        return ofSourceByRank(source, proportions.rank(patterned));
    }

    private long ofSourceByRank(int source, long rank) {
        long[] first = left[source];
        return rank < first.length ? first[(int) rank] : Math.addExact(next[source], rank - first.length);
    }

    /** Returns the least number of draws of a source that may still be made, if it has so many in all. */
    long roomOf(int source, long limit) {
        return proportions.weight(source) == 0 ? Long.MAX_VALUE : limit - next[source] - left[source].length;
    }

    /** Returns the stretch that follows from a draw on. */
    Stretch then(long ofEpoch, long draw, Proportions changed, long size, boolean shuffled, long seed) {
        long number = number(ofEpoch, draw, size);
        long end = Math.ceilDiv(number, block) * block;
        int sources = next.length;
        List<List<Long>> rest = lists(sources);
        long[] after = new long[sources];
        long[] drawn = proportions.counts(end);
        for (int s = 0; s < sources; s++) {
            after[s] = drawn[s] < left[s].length ? next[s] : next[s] + drawn[s] - left[s].length;
        }
        for (long i = number; i < end; i++) {
            long patterned = shuffle == null ? i : shuffle.at(i);
            int source = proportions.source(patterned);
            rest.get(source).add(ofSource(source, patterned));
        }
        for (int s = 0; s < sources; s++) {
            for (long i = drawn[s]; i < left[s].length; i++) {
                rest.get(s).add(left[s][(int) i]);
            }
        }
        return new Stretch(ofEpoch, draw, changed, sorted(rest), after, shuffled, seed);
    }

    static List<List<Long>> lists(int sources) {
        return IntStream.range(0, sources).<List<Long>>mapToObj(_ -> new ArrayList<>()).toList();
    }

    static long[][] sorted(List<List<Long>> draws) {
        return draws.stream().map(of -> {
            Collections.sort(of);
            return of.stream().mapToLong(draw -> draw).toArray();
        }).toArray(long[][]::new);
    }
}
