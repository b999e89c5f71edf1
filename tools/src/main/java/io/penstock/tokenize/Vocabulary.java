// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.error.MalformedStoreException;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of a byte-level byte-pair encoding, in flat tables. Of two pairs of tokens, the one with the lower rank is
 * merged first. Immutable.
 *
 * <p>Two tables with open addressing answer what the encoder asks: which token has these bytes, and at which rank two
 * tokens are merged. In tiktoken's vocabularies a pair's rank is the id of the token that the two make, and the second
 * table holds every split of every token into two tokens, so it says the same as the first about the joined bytes.
 * Other vocabularies list their {@link Merges}.
 */
final class Vocabulary {

    /** Stands for no token and for no rank. It is above every rank, so it is never the least. */
    static final int NONE = Integer.MAX_VALUE;

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long MIX = 0x9E3779B97F4A7C15L;
    /** Three ids share a long. */
    private static final int ID_BITS = 21;
    static final int MAX_ID = (1 << ID_BITS) - 1;
    /** The longest token of the published vocabularies has 128 bytes. */
    static final int MAX_TOKEN_BYTES = 1024;
    private static final long EMPTY = -1;

    private final byte[] blob;
    /** Where an id's bytes start; the next entry says where they end. An id without a token has no bytes. */
    private final int[] starts;
    private final int longest;
    private final int count;
    private final String name;
    // For encoding alone: whoever decodes some tokens need not wait for them. Set by tabled and prepared.
    /** A slot: the first 8 bytes, then {@code length << 32 | id}; 0 is an empty slot. */
    private long[] tokens = {};
    private int tokenShift;
    /** A slot: {@code left << 42 | right << 21 | rank}. */
    private long[] pairs = {};
    private int pairShift;
    private int[] rankOfTwoBytes = {};
    private final int[] ofByte = new int[256];
    /** The token that a merge makes, by rank; null if it has the rank as its id. */
    private final int @Nullable [] made;
    private final Merges merges;

    /**
     * The merges of a vocabulary, by rank.
     *
     * @param left the left token of each
     * @param right the right token of each
     * @param made the token that each makes
     * @param wholePieces whether a piece that is a token becomes that token even if no merges lead to it
     */
    record Merges(int[] left, int[] right, int[] made, boolean wholePieces) {

        /** As in tiktoken's vocabularies: every split of every token. */
        static final Merges OF_IDS = new Merges(new int[0], new int[0], new int[0], true);
    }

    private Vocabulary(byte[] blob, int[] starts, int count, Merges merges, String name) {
        this.blob = blob;
        this.starts = starts;
        this.count = count;
        this.merges = merges;
        this.name = name;
        this.made = merges == Merges.OF_IDS ? null : merges.made;
        int longestToken = 0;
        for (int id = 0; id < size(); id++) {
            longestToken = Math.max(longestToken, length(id));
        }
        longest = longestToken;
    }

    /** Makes the table of tokens, unless it is there. Fails if two have the same bytes, or some byte has no token. */
    private synchronized Vocabulary tabled() {
        if (tokens.length > 0) {
            return this;
        }
        int slots = powerOfTwo(2L * count);
        tokens = new long[2 * slots];
        tokenShift = Long.numberOfLeadingZeros(slots) + 1;
        for (int id = 0; id < size(); id++) {
            if (length(id) > 0) {
                put(id, length(id));
            }
        }
        for (int value = 0; value < 256; value++) {
            byte[] one = {(byte) value};
            ofByte[value] = find(one, 0, 1, hash(one, 0, 1));
            if (ofByte[value] == NONE) {
                throw new MalformedStoreException(name,
                        "found no token for byte " + value + ", expected one for each byte");
            }
        }
        if (!merges.wholePieces) {
            keepMergedTokens();
        }
        return this;
    }

    /** Makes the tables, unless they are there. Called before any token or rank is asked for. */
    synchronized Vocabulary prepared() {
        tabled();
        if (pairs.length == 0) {
            pairs = made == null ? pairs() : pairs(merges);
            pairShift = Long.numberOfLeadingZeros(pairs.length) + 1;
            rankOfTwoBytes = new int[1 << 16];
            for (int value = 0; value < rankOfTwoBytes.length; value++) {
                rankOfTwoBytes[value] = rank(ofByte[value >> 8], ofByte[value & 0xFF]);
            }
        }
        return this;
    }

    /** Removes the tokens that merging their own bytes does not produce. */
    private void keepMergedTokens() {
        LongMerge merge = new LongMerge(this);
        int[] out = new int[MAX_TOKEN_BYTES];
        boolean[] isMerged = new boolean[size()];
        for (int id = 0; id < size(); id++) {
            int length = length(id);
            isMerged[id] = length > 0 && merge.merge(blob, starts[id], length, out, 0) == 1 && out[0] == id;
        }
        Arrays.fill(tokens, 0);
        for (int id = 0; id < size(); id++) {
            if (isMerged[id]) {
                put(id, length(id));
            }
        }
    }

    /**
     * A vocabulary whose merges are listed.
     *
     * @param byId the bytes of each token, null where no token has the id
     * @param name the file's name, for messages
     * @throws MalformedStoreException if two tokens have the same bytes, or some byte has no token
     */
    static Vocabulary of(byte[] @Nullable [] byId, Merges merges, String name) {
        return untabled(byId, merges, name).tabled();
    }

    private static Vocabulary untabled(byte[] @Nullable [] byId, Merges merges, String name) {
        int size = byId.length;
        while (size > 0 && byId[size - 1] == null) {
            size--;
        }
        int count = 0;
        int[] starts = new int[size + 1];
        for (int id = 0; id < size; id++) {
            byte[] token = byId[id];
            count += token == null ? 0 : 1;
            starts[id + 1] = starts[id] + (token == null ? 0 : token.length);
        }
        byte[] blob = new byte[starts[size] + Long.BYTES];
        for (int id = 0; id < size; id++) {
            byte[] token = byId[id];
            if (token != null) {
                System.arraycopy(token, 0, blob, starts[id], token.length);
            }
        }
        return new Vocabulary(blob, starts, count, merges, name);
    }

    /**
     * Reads a file in tiktoken's format: each line has a token in base 64, a space and its rank.
     *
     * @param name the file's name, for messages
     * @throws IOException if reading fails
     * @throws MalformedStoreException if the file is invalid
     */
    static Vocabulary read(InputStream in, String name) throws IOException {
        return readPublished(in, name).tabled();
    }

    /** The same of a file that has each byte and no token twice, which is looked at by who encodes. */
    static Vocabulary readPublished(InputStream in, String name) throws IOException {
        byte[] file = in.readAllBytes();
        int lines = 0;
        for (byte b : file) {
            lines += b == '\n' ? 1 : 0;
        }
        byte[] @Nullable [] byId = new byte[lines + 1][];
        int line = 1;
        for (int start = 0; start < file.length; line++) {
            int end = start;
            int space = -1;
            for (; end < file.length && file[end] != '\n'; end++) {
                space = file[end] == ' ' ? end : space;
            }
            int last = end > start && file[end - 1] == '\r' ? end - 1 : end;
            if (last > start) {
                int id = space < 0 ? -1 : number(file, space + 1, last);
                byte[] token = space < 0 ? new byte[0] : token(file, start, space);
                if (id < 0 || token.length == 0 || token.length > MAX_TOKEN_BYTES) {
                    throw new MalformedStoreException(name, "at line " + line + ": expected a token of 1 to "
                            + MAX_TOKEN_BYTES + " bytes in base 64, a space and its rank, at most " + MAX_ID);
                }
                byId = id < byId.length ? byId : Arrays.copyOf(byId, Math.max(id + 1, 2 * byId.length));
                if (byId[id] != null) {
                    throw new MalformedStoreException(name, "at line " + line + ": found rank " + id + " again");
                }
                byId[id] = token;
            }
            start = end + 1;
        }
        return untabled(byId, Merges.OF_IDS, name);
    }

    private static byte[] token(byte[] file, int start, int end) {
        try {
            return Base64.getDecoder().decode(Arrays.copyOfRange(file, start, end));
        } catch (IllegalArgumentException _) {
            return new byte[0];
        }
    }

    private static int number(byte[] file, int start, int end) {
        int value = 0;
        for (int i = start; i < end; i++) {
            if (file[i] < '0' || file[i] > '9') {
                return -1;
            }
            value = 10 * value + file[i] - '0';
            if (value > MAX_ID) {
                return -1;
            }
        }
        return end > start ? value : -1;
    }

    private void put(int id, int length) {
        int start = starts[id];
        long hash = hash(blob, start, length);
        int other = find(blob, start, length, hash);
        if (other != NONE) {
            throw new MalformedStoreException(name, "found the token of rank " + other + " again as rank " + id);
        }
        int mask = tokens.length / 2 - 1;
        int slot = (int) (hash >>> tokenShift);
        while (tokens[2 * slot + 1] != 0) {
            slot = slot + 1 & mask;
        }
        tokens[2 * slot] = first(blob, start, length);
        tokens[2 * slot + 1] = (long) length << 32 | id;
    }

    private long[] pairs() {
        long[] table = emptyPairs(1 << 12);
        int count = 0;
        for (int id = 0; id < size(); id++) {
            int length = length(id);
            for (int cut = 1; cut < length; cut++) {
                int left = find(blob, starts[id], cut, hash(blob, starts[id], cut));
                int right = left == NONE ? NONE
                        : find(blob, starts[id] + cut, length - cut, hash(blob, starts[id] + cut, length - cut));
                if (right != NONE) {
                    if (2L * ++count > table.length) {
                        table = grown(table);
                    }
                    putPair(table, (pairKey(left, right) << ID_BITS) | id);
                }
            }
        }
        return table;
    }

    /** Of several merges of the same two tokens, the last one counts. */
    private static long[] pairs(Merges merges) {
        long[] table = emptyPairs(powerOfTwo(2L * merges.left.length));
        Set<Long> known = new HashSet<>();
        for (int rank = merges.left.length - 1; rank >= 0; rank--) {
            long key = pairKey(merges.left[rank], merges.right[rank]);
            if (known.add(key)) {
                putPair(table, key << ID_BITS | rank);
            }
        }
        return table;
    }

    private static long[] grown(long[] table) {
        long[] larger = emptyPairs(2 * table.length);
        for (long slot : table) {
            if (slot != EMPTY) {
                putPair(larger, slot);
            }
        }
        return larger;
    }

    private static long[] emptyPairs(int slots) {
        long[] table = new long[slots];
        Arrays.fill(table, EMPTY);
        return table;
    }

    private static void putPair(long[] table, long value) {
        int slot = (int) ((value >>> ID_BITS) * MIX >>> Long.numberOfLeadingZeros(table.length) + 1);
        while (table[slot] != EMPTY) {
            slot = slot + 1 & table.length - 1;
        }
        table[slot] = value;
    }

    private static long pairKey(int left, int right) {
        return (long) left << ID_BITS | right;
    }

    private static int powerOfTwo(long least) {
        return Math.toIntExact(Math.max(16, Long.highestOneBit(Math.max(1, least - 1)) << 1));
    }

    /** Adds all tokens, their ids and their merges to a digest. */
    void addTo(MessageDigest digest) {
        byte[] head = new byte[2 * Integer.BYTES];
        MemorySegment numbers = MemorySegment.ofArray(head);
        for (int id = 0; id < size(); id++) {
            if (length(id) > 0) {
                numbers.set(LittleEndian.I32, 0, id);
                numbers.set(LittleEndian.I32, Integer.BYTES, length(id));
                digest.update(head);
                digest.update(blob, starts[id], length(id));
            }
        }
        digest.update((byte) (merges.wholePieces ? 1 : 0));
        for (int rank = 0; rank < merges.left.length; rank++) {
            numbers.set(LittleEndian.I32, 0, merges.left[rank]);
            numbers.set(LittleEndian.I32, Integer.BYTES, merges.right[rank]);
            digest.update(head);
        }
    }

    /** One more than the largest id. */
    int size() {
        return starts.length - 1;
    }

    /** The bytes of the longest token. */
    int longest() {
        return longest;
    }

    /** The bytes of a token; 0 if no token has the id. */
    int length(int id) {
        return starts[id + 1] - starts[id];
    }

    void copy(int id, byte[] to, int at) {
        System.arraycopy(blob, starts[id], to, at, length(id));
    }

    /** {@return the token of one byte} */
    int ofByte(byte value) {
        return ofByte[value & 0xFF];
    }

    /** {@return the rank at which the tokens of two bytes are merged, or {@link #NONE}} */
    int rankOfTwoBytes(byte first, byte second) {
        return rankOfTwoBytes[(first & 0xFF) << 8 | second & 0xFF];
    }

    /** {@return the rank at which two tokens are merged, or {@link #NONE}} */
    int rank(int left, int right) {
        long key = pairKey(left, right);
        int slot = (int) (key * MIX >>> pairShift);
        while (true) {
            long found = pairs[slot];
            if (found >>> ID_BITS == key) {
                return (int) found & MAX_ID;
            }
            if (found == EMPTY) {
                return NONE;
            }
            slot = slot + 1 & pairs.length - 1;
        }
    }

    /** {@return the token that the merge of a rank makes} */
    int made(int rank) {
        return made == null ? rank : made[rank];
    }

    /**
     * Looks a token up by its bytes.
     *
     * @param hash their {@link #hash}
     * @return its id, or {@link #NONE}
     */
    int find(byte[] bytes, int from, int length, long hash) {
        long first = first(bytes, from, length);
        int mask = (tokens.length >> 1) - 1;
        int slot = (int) (hash >>> tokenShift);
        while (true) {
            long found = tokens[2 * slot + 1];
            if (found == 0) {
                return NONE;
            }
            if (tokens[2 * slot] == first && found >>> 32 == length
                    && (length <= Long.BYTES || rest(bytes, from, length, (int) found))) {
                return (int) found;
            }
            slot = slot + 1 & mask;
        }
    }

    /** Compares the bytes after the first 8: whole words, then the last word, which may overlap them. */
    private boolean rest(byte[] bytes, int from, int length, int id) {
        int start = starts[id];
        int last = length - Long.BYTES;
        for (int i = Long.BYTES; i < last; i += Long.BYTES) {
            if ((long) WORDS.get(bytes, from + i) != (long) WORDS.get(blob, start + i)) {
                return false;
            }
        }
        return (long) WORDS.get(bytes, from + last) == (long) WORDS.get(blob, start + last);
    }

    /** The hash of a piece; its high bits are the best mixed. */
    static long hash(byte[] bytes, int from, int length) {
        long hash = (first(bytes, from, length) ^ length) * MIX;
        if (length > Long.BYTES) {
            int last = length - Long.BYTES;
            for (int i = Long.BYTES; i < last; i += Long.BYTES) {
                hash = ((hash ^ hash >>> 32) + (long) WORDS.get(bytes, from + i)) * MIX;
            }
            hash = ((hash ^ hash >>> 32) + (long) WORDS.get(bytes, from + last)) * MIX;
        }
        return (hash ^ hash >>> 32) * MIX;
    }

    /** The first 8 bytes as a word; zeros follow a shorter piece. */
    static long first(byte[] bytes, int from, int length) {
        if (from + Long.BYTES <= bytes.length) {
            long word = (long) WORDS.get(bytes, from);
            return length >= Long.BYTES ? word : word & (1L << 8 * length) - 1;
        }
        long word = 0;
        for (int i = Math.min(length, Long.BYTES) - 1; i >= 0; i--) {
            word = word << 8 | bytes[from + i] & 0xFF;
        }
        return word;
    }
}
