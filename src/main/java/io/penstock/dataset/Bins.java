package io.penstock.dataset;

import java.util.Arrays;

/** The assignment of pieces to bins of a capacity. */
final class Bins {

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
        int[] order = longestFirst(pieces, capacity);
        int[] top = new int[capacity + 1];
        Arrays.fill(top, NONE);
        int[] below = new int[pieces.size()];
        RoomSet rooms = new RoomSet(capacity);
        for (int piece : order) {
            int length = pieces.length(piece);
            int room = rooms.atLeast(length);
            int bin;
            if (room == NONE) {
                bin = bins.count++;
                room = capacity;
            } else {
                bin = top[room];
                top[room] = below[bin];
                if (top[room] == NONE) {
                    rooms.remove(room);
                }
            }
            bins.binOf[piece] = bin;
            int left = room - length;
            if (left > 0) {
                below[bin] = top[left];
                top[left] = bin;
                rooms.add(left);
            }
        }
        return bins;
    }

    /** Counting sort. */
    private static int[] longestFirst(PieceList pieces, int capacity) {
        int[] starts = new int[capacity + 2];
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

    /** A set of numbers from 1 to a limit: bits in words, a bit for each nonzero word, and so on. */
    private static final class RoomSet {

        private final long[][] levels;

        RoomSet(int limit) {
            int height = 1;
            for (long words = limit / 64 + 1; words > 1; words = (words + 63) / 64) {
                height++;
            }
            levels = new long[height][];
            int words = limit / 64 + 1;
            for (int level = 0; level < height; level++) {
                levels[level] = new long[words];
                words = (words + 63) / 64;
            }
        }

        void add(int number) {
            int at = number;
            for (long[] level : levels) {
                level[at >> 6] |= 1L << at;
                at >>= 6;
            }
        }

        void remove(int number) {
            int at = number;
            for (long[] level : levels) {
                level[at >> 6] &= ~(1L << at);
                if (level[at >> 6] != 0) {
                    return;
                }
                at >>= 6;
            }
        }

        /** Returns the least member at or above a number; {@link #NONE} if there is none. */
        int atLeast(int number) {
            int at = number;
            for (int level = 0; level < levels.length; level++) {
                int word = at >> 6;
                long bits = word < levels[level].length ? levels[level][word] & -1L << at : 0;
                if (bits != 0) {
                    int found = word << 6 | Long.numberOfTrailingZeros(bits);
                    for (int down = level - 1; down >= 0; down--) {
                        found = found << 6 | Long.numberOfTrailingZeros(levels[down][found]);
                    }
                    return found;
                }
                at = word + 1;
            }
            return NONE;
        }
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
