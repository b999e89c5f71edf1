// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.util.Arrays;

/**
 * Merges the tokens of a long piece in {@code n log n} steps. The tokens form a linked list, and a heap orders the
 * pairs that can merge by rank, then from left to right. A pair that is no longer in the list is skipped when it leaves
 * the heap. Not thread-safe.
 */
final class LongMerge {

    /** Arrays for pieces up to this size are kept for the next one. */
    private static final int KEPT_BYTES = 64 << 10;

    private final Vocabulary vocabulary;
    private int[] ids = new int[0];
    private int[] before = ids;
    private int[] after = ids;
    /** The rank at which a token is merged with the one after it. */
    private int[] ranks = ids;
    /** A pair: {@code rank << 32 | index of its left token}. */
    private long[] heap = new long[0];
    private int heapSize;
    private long steps;

    LongMerge(Vocabulary vocabulary) {
        this.vocabulary = vocabulary.prepared();
    }

    /** The comparisons of pairs so far. */
    long steps() {
        return steps;
    }

    /** Writes a piece's tokens to {@code out} from an index, and returns the index after them. */
    int merge(byte[] text, int from, int length, int[] out, int outAt) {
        start(text, from, length);
        while (heapSize > 0) {
            long least = heap[0];
            removeFirst();
            int left = (int) least;
            int rank = (int) (least >>> 32);
            if (ranks[left] == rank) {
                join(left, vocabulary.made(rank), length);
            }
        }
        int at = outAt;
        for (int token = 0; token < length; token = after[token]) {
            out[at++] = ids[token];
        }
        if (length > KEPT_BYTES) {
            ids = before = after = ranks = new int[0];
            heap = new long[0];
        }
        return at;
    }

    private void start(byte[] text, int from, int length) {
        if (ids.length < length) {
            ids = new int[length];
            before = new int[length];
            after = new int[length];
            ranks = new int[length];
            heap = new long[length];
        }
        heapSize = 0;
        for (int i = 0; i < length; i++) {
            ids[i] = vocabulary.ofByte(text[from + i]);
            before[i] = i - 1;
            after[i] = i + 1;
            ranks[i] = i + 1 < length ? vocabulary.rankOfTwoBytes(text[from + i], text[from + i + 1]) : Vocabulary.NONE;
            if (ranks[i] != Vocabulary.NONE) {
                heap[heapSize++] = (long) ranks[i] << 32 | i;
            }
        }
        for (int i = heapSize / 2 - 1; i >= 0; i--) {
            sink(i, heap[i]);
        }
    }

    private void join(int left, int id, int length) {
        int right = after[left];
        int next = after[right];
        ids[left] = id;
        after[left] = next;
        ranks[right] = Vocabulary.NONE;
        if (next < length) {
            before[next] = left;
        }
        pair(left, next, length);
        if (before[left] >= 0) {
            pair(before[left], left, length);
        }
    }

    private void pair(int left, int right, int length) {
        ranks[left] = right < length ? vocabulary.rank(ids[left], ids[right]) : Vocabulary.NONE;
        if (ranks[left] != Vocabulary.NONE) {
            add((long) ranks[left] << 32 | left);
        }
    }

    private void add(long pair) {
        if (heapSize == heap.length) {
            heap = Arrays.copyOf(heap, 2 * heap.length);
        }
        int at = heapSize++;
        while (at > 0) {
            steps++;
            int parent = at - 1 >>> 1;
            if (heap[parent] <= pair) {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = pair;
    }

    private void removeFirst() {
        heapSize--;
        if (heapSize > 0) {
            sink(0, heap[heapSize]);
        }
    }

    private void sink(int from, long pair) {
        int at = from;
        while (2 * at + 1 < heapSize) {
            steps++;
            int child = 2 * at + 1;
            if (child + 1 < heapSize && heap[child + 1] < heap[child]) {
                child++;
            }
            if (heap[child] >= pair) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = pair;
    }
}
