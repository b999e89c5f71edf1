// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import java.util.Arrays;
import java.util.BitSet;

/** The assignment of pieces to bins of a capacity. */
final class Bins {

    /** No bin, or no room; {@link BitSet#nextSetBit} gives it too. */
    private static final int NONE = -1;

    /** Each piece's bin; bins are numbered in order of creation. */
    private final int[] binOf;
    private int count;

    private Bins(int pieces) {
        this.binOf = new int[pieces];
    }

    int count() {
        return count;
    }

    int binOf(int piece) {
        return binOf[piece];
    }

    /**
     * Best fit: longest pieces first, ties in order; each goes to the bin with the least sufficient room, ties to the
     * one most recently used. Bins are stacked by room; a bit set tells which stacks are not empty.
     */
    static Bins bestFit(PieceList pieces, int capacity) {
        Bins bins = new Bins(pieces.size());
        int[] ends = new int[capacity + 2];
        int[] order = longestFirst(pieces, capacity, ends);
        int[] top = new int[capacity + 1];
        Arrays.fill(top, NONE);
        int[] below = new int[Math.max(16, pieces.size() / 4)];
        BitSet rooms = new BitSet(capacity + 1);
        for (int i = 0, length = capacity; i < order.length; i++) {
            while (i == ends[capacity - length]) {
                length--;
            }
            int piece = order[i];
            int room = rooms.nextSetBit(length);
            int bin;
            if (room == NONE) {
                bin = bins.count++;
                if (bin == below.length) {
                    below = Arrays.copyOf(below, (int) Math.min(pieces.size(), 2L * bin));
                }
                room = capacity;
            } else {
                bin = top[room];
                top[room] = below[bin];
                if (top[room] == NONE) {
                    rooms.clear(room);
                }
            }
            bins.binOf[piece] = bin;
            int left = room - length;
            if (left > 0) {
                below[bin] = top[left];
                top[left] = bin;
                rooms.set(left);
            }
        }
        return bins;
    }

    /** Returns the pieces, longest first; {@code starts} becomes the end of those of each length below capacity. */
    private static int[] longestFirst(PieceList pieces, int capacity, int[] starts) {
        for (int i = 0; i < pieces.size(); i++) {
            starts[capacity - pieces.length(i) + 1]++;
        }
        for (int i = 1; i < starts.length; i++) {
            starts[i] += starts[i - 1];
        }
        int[] order = new int[pieces.size()];
        for (int i = 0; i < pieces.size(); i++) {
            order[starts[capacity - pieces.length(i)]++] = i;
        }
        return order;
    }

    /**
     * First fit: each piece, in order, goes to the first bin that has room. A tree over the bins holds the greatest
     * room of each half; descending left where there is room finds that bin.
     */
    static Bins firstFit(PieceList pieces, int capacity) {
        Bins bins = new Bins(pieces.size());
        int leaves = Math.max(1, Integer.highestOneBit(Math.max(1, pieces.size() - 1)) << 1);
        int[] rooms = new int[2 * leaves];
        Arrays.fill(rooms, capacity);
        for (int piece = 0; piece < pieces.size(); piece++) {
            int length = pieces.length(piece);
            int node = 1;
            while (node < leaves) {
                node = rooms[2 * node] >= length ? 2 * node : 2 * node + 1;
            }
            int bin = node - leaves;
            bins.binOf[piece] = bin;
            bins.count = Math.max(bins.count, bin + 1);
            rooms[node] -= length;
            for (node /= 2; node >= 1; node /= 2) {
                rooms[node] = Math.max(rooms[2 * node], rooms[2 * node + 1]);
            }
        }
        return bins;
    }
}
