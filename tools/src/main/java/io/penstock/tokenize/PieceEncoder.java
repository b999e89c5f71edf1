// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

/**
 * Encodes well-formed UTF-8 without special tokens. It caches the pieces that it merged last. It makes no object for a
 * piece, except arrays for a very long one. Not thread-safe.
 */
final class PieceEncoder {

    /** Above this many bytes, {@link LongMerge} merges; below, a search through the pairs is faster. */
    private static final int SHORT_BYTES = 128;

    private static final int MEMORY_BITS = 14;
    /** The words of an entry in {@link #memoryKeys}: length and count, then the piece's bytes. */
    private static final int KEY_WORDS = 8;
    private static final int REMEMBERED_BYTES = (KEY_WORDS - 1) * Long.BYTES;
    private static final int REMEMBERED_IDS = 24;

    private final Vocabulary vocabulary;
    private final TextSplit split;
    private final LongMerge longMerge;
    private final int[] ids = new int[SHORT_BYTES];
    /** The rank at which a token is merged with the one after it. */
    private final int[] ranks = new int[SHORT_BYTES];
    private final long[] memoryKeys = new long[KEY_WORDS << MEMORY_BITS];
    private final int[] memoryIds = new int[REMEMBERED_IDS << MEMORY_BITS];

    PieceEncoder(Vocabulary vocabulary, TextSplit split) {
        this.vocabulary = vocabulary.prepared();
        this.split = split;
        this.longMerge = new LongMerge(vocabulary);
    }

    /** The comparisons made for long pieces so far. */
    long longMergeSteps() {
        return longMerge.steps();
    }

    /** Appends the ids of a text. */
    void encode(byte[] utf8, int from, int end, TokenBuffer out) {
        int longest = vocabulary.longest();
        int[] target = out.array();
        int count = out.size();
        for (int at = from; at < end; ) {
            int next = split.next(utf8, at, end);
            int length = next - at;
            if (length > target.length - count) {
                target = out.reserve(count, length);
            }
            if (length <= Math.max(longest, SHORT_BYTES)) {
                long hash = Vocabulary.hash(utf8, at, length);
                int id = vocabulary.find(utf8, at, length, hash);
                if (id != Vocabulary.NONE) {
                    target[count++] = id;
                } else if (length <= REMEMBERED_BYTES) {
                    count = remembered(utf8, at, length, hash, target, count);
                } else if (length <= SHORT_BYTES) {
                    count = merge(utf8, at, length, target, count);
                } else {
                    count = longMerge.merge(utf8, at, length, target, count);
                }
            } else {
                count = longMerge.merge(utf8, at, length, target, count);
            }
            at = next;
        }
        out.setSize(count);
    }

    private int remembered(byte[] utf8, int at, int length, long hash, int[] target, int count) {
        int slot = (int) (hash >>> Long.SIZE - MEMORY_BITS);
        int key = slot * KEY_WORDS;
        int first = slot * REMEMBERED_IDS;
        long head = memoryKeys[key];
        if (head >>> 32 == length && isKey(utf8, at, length, key)) {
            int known = (int) head;
            for (int i = 0; i < known; i++) {
                target[count + i] = memoryIds[first + i];
            }
            return count + known;
        }
        int end = merge(utf8, at, length, target, count);
        if (end - count <= REMEMBERED_IDS) {
            memoryKeys[key] = (long) length << 32 | end - count;
            for (int i = 0, word = key + 1; i < length; i += Long.BYTES, word++) {
                memoryKeys[word] = Vocabulary.first(utf8, at + i, length - i);
            }
            System.arraycopy(target, count, memoryIds, first, end - count);
        }
        return end;
    }

    private boolean isKey(byte[] utf8, int at, int length, int key) {
        for (int i = 0, word = key + 1; i < length; i += Long.BYTES, word++) {
            if (memoryKeys[word] != Vocabulary.first(utf8, at + i, length - i)) {
                return false;
            }
        }
        return true;
    }

    /** Merges a short piece: repeatedly the pair with the lowest rank, the leftmost of equals. */
    private int merge(byte[] utf8, int from, int length, int[] target, int count) {
        int last = length - 1;
        for (int i = 0; i < last; i++) {
            ids[i] = vocabulary.ofByte(utf8[from + i]);
            ranks[i] = vocabulary.rankOfTwoBytes(utf8[from + i], utf8[from + i + 1]);
        }
        ids[last] = vocabulary.ofByte(utf8[from + last]);
        while (true) {
            int least = Vocabulary.NONE;
            int at = -1;
            for (int i = 0; i < last; i++) {
                if (ranks[i] < least) {
                    least = ranks[i];
                    at = i;
                }
            }
            if (at < 0) {
                break;
            }
            int made = vocabulary.made(least);
            ids[at] = made;
            for (int i = at + 1; i < last; i++) {
                ids[i] = ids[i + 1];
                ranks[i] = ranks[i + 1];
            }
            last--;
            if (at < last) {
                ranks[at] = vocabulary.rank(made, ids[at + 1]);
            }
            if (at > 0) {
                ranks[at - 1] = vocabulary.rank(ids[at - 1], made);
            }
        }
        System.arraycopy(ids, 0, target, count, last + 1);
        return count + last + 1;
    }
}
