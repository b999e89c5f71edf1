// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The order of one epoch of an edited run: pieces of positions, one after the other. Its own positions, which it is an
 * {@link Order} over, count what is given; here they are called places, to tell them from the positions of the order
 * without edits. A look-up takes a binary search among the pieces.
 */
final class EditedOrder implements Order {

    private final Order positions;
    /** The first position of each piece. */
    private final long[] from;
    /** The first place of each piece, then the number of places. */
    private final long[] places;
    /** The pieces by their first positions. */
    private final int[] byPosition;
    /** The position after all, also of those that are given again; surplus positions follow. */
    private final long end;

    /** Creates the order of pieces, each its first position and the one after its last. */
    EditedOrder(Order positions, List<long[]> pieces, long end) {
        this.positions = positions;
        this.end = end;
        this.from = pieces.stream().mapToLong(piece -> piece[0]).toArray();
        this.places = new long[from.length + 1];
        for (int i = 0; i < from.length; i++) {
            places[i + 1] = places[i] + pieces.get(i)[1] - from[i];
        }
        this.byPosition = IntStream.range(0, from.length).boxed().sorted(Comparator.comparingLong(i -> from[i]))
                .mapToInt(i -> i).toArray();
    }

    @Override
    public long size() {
        return places[from.length];
    }

    /** Returns the position after the last one of the epoch, also of those that are given again. */
    long end() {
        return end;
    }

    /** Returns the position at a place; a surplus position for one at or past the size. */
    long position(long place) {
        if (place >= size()) {
            return end + place - size();
        }
        int piece = pieceAt(place);
        return from[piece] + place - places[piece];
    }

    /** Returns the positions of places as ranges, each its first position and the one after its last. */
    List<long[]> positions(long first, long after) {
        List<long[]> ranges = new ArrayList<>();
        for (long place = first; place < after;) {
            int piece = pieceAt(place);
            long stop = Math.min(after, places[piece + 1]);
            ranges.add(new long[] {position(place), position(place) + stop - place});
            place = stop;
        }
        return ranges;
    }

    private int pieceAt(long place) {
        int low = 0;
        int high = from.length - 1;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            if (places[middle] <= place) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /**
     * Returns the place of a position; of one that is left out, that of the next higher one that is given; the size if
     * there is none. Position 0 is where the epoch begins.
     *
     * @param limit positions from this one on are not the next of this one
     */
    long placeOf(long position, long limit) {
        if (position == 0) {
            return 0;
        }
        int low = 0;
        int high = from.length;
        while (low < high) {                            // the first piece that begins behind the position
            int middle = low + high >>> 1;
            if (from[byPosition[middle]] <= position) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low > 0) {
            int piece = byPosition[low - 1];
            if (position - from[piece] < places[piece + 1] - places[piece]) {
                return places[piece] + position - from[piece];
            }
        }
        return low < from.length && from[byPosition[low]] < limit ? places[byPosition[low]] : size();
    }

    @Override
    public long at(long place) {
        Positions.check(place, size());
        return positions.at(position(place));
    }

    @Override
    public void fill(long first, long stride, int count, long[] into) {
        Positions.check(first, stride, count, into.length, size());
        if (count == 0) {
            return;
        }
        int piece = pieceAt(first);
        if (first + (count - 1) * stride < places[piece + 1] && from[piece] < positions.size()) {
            positions.fill(from[piece] + first - places[piece], stride, count, into);
            return;
        }
        for (int i = 0; i < count; i++) {
            into[i] = positions.at(position(first + i * stride));
        }
    }
}
