// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;

/**
 * Tokens that a model reads but is not trained on, such as a question of a conversation. The field {@code
 * masked_tokens} holds one as its complement, which is negative: {@code ~id}. Specified in {@code
 * docs/spec/conversations.md}.
 */
final class Context {

    /** Elements that are looked at together: mostly, none of them is negative. */
    private static final int BLOCK = 64;

    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};

    private Context() {
    }

    /** Tells whether a field can hold such tokens. */
    static boolean isIn(TensorSpec field) {
        return field.name().equals(TokenWindows.MASKED_TOKENS);
    }

    /**
     * Replaces each of these among {@code length} ids by its id, and among {@code labeled} labels by the one that
     * losses ignore.
     */
    static void decode(MemorySegment slab, DType dtype, long ids, int length, long labels, int labeled) {
        if (dtype == DType.I32) {
            replace32(slab, ids, length, false);
            replace32(slab, labels, labeled, true);
        } else {
            replace64(slab, ids, length, false);
            replace64(slab, labels, labeled, true);
        }
    }

    /** Returns the id of a token, also of one that is not trained on. */
    static int id(int token) {
        return token < 0 ? ~token : token;
    }

    /** Writes the ids of {@code length} masked tokens, and the labels of all but the last. */
    static void store(int[] tokens, int first, int length, MemorySegment slab, DType dtype, long ids, long labels) {
        for (int i = 0; i < length; i++) {
            int token = tokens[first + i];
            int label = token < 0 ? PackedLm.IGNORED : token;
            if (dtype == DType.I64) {
                slab.set(I64, ids + 8L * i, id(token));
                if (i > 0) {
                    slab.set(I64, labels + 8L * (i - 1), label);
                }
            } else {
                slab.set(I32, ids + 4L * i, id(token));
                if (i > 0) {
                    slab.set(I32, labels + 4L * (i - 1), label);
                }
            }
        }
    }

    /** Writes 0 for each of {@code count} tokens whose next one is such a token. */
    static void maskLoss(BatchReader in, Span tokens, DType dtype, int count, MemorySegment slab, long mask) {
        if (dtype == DType.I32) {
            int[] values = in.readIntegers(tokens, count + 1, dtype);
            for (int i = 0; i < count; i++) {
                if (values[i + 1] < 0) {
                    slab.set(JAVA_BYTE, mask + i, (byte) 0);
                }
            }
        } else {
            long[] values = in.readLongs(tokens, count + 1, dtype);
            for (int i = 0; i < count; i++) {
                if (values[i + 1] < 0) {
                    slab.set(JAVA_BYTE, mask + i, (byte) 0);
                }
            }
        }
    }

    /** Sets the bits of those of {@code count} tokens, from bit {@code first} on, that are trained on. */
    static void setLossBits(BatchReader in, Span tokens, TensorSpec field, int count, MemorySegment slab, long bits,
            int first) {
        boolean isMasked = isIn(field);
        boolean isWide = field.dtype() == DType.I64;
        int[] values = isMasked && !isWide ? in.readIntegers(tokens, count, field.dtype()) : NO_INTS;
        long[] wide = isMasked && isWide ? in.readLongs(tokens, count, field.dtype()) : NO_LONGS;
        for (int i = 0; i < count; i++) {
            if (!isMasked || (isWide ? wide[i] : values[i]) >= 0) {
                long at = bits + (first + i) / 8;
                slab.set(JAVA_BYTE, at, (byte) (slab.get(JAVA_BYTE, at) | 1 << (first + i) % 8));
            }
        }
    }

    private static void replace32(MemorySegment slab, long offset, int count, boolean ignored) {
        for (int from = 0; from < count; from += BLOCK) {
            int end = Math.min(count, from + BLOCK);
            int all = 0;
            for (int i = from; i < end; i++) {
                all |= slab.get(I32, offset + 4L * i);
            }
            for (int i = all < 0 ? from : end; i < end; i++) {
                int token = slab.get(I32, offset + 4L * i);
                if (token < 0) {
                    slab.set(I32, offset + 4L * i, ignored ? PackedLm.IGNORED : ~token);
                }
            }
        }
    }

    private static void replace64(MemorySegment slab, long offset, int count, boolean ignored) {
        for (int from = 0; from < count; from += BLOCK) {
            int end = Math.min(count, from + BLOCK);
            long all = 0;
            for (int i = from; i < end; i++) {
                all |= slab.get(I64, offset + 8L * i);
            }
            for (int i = all < 0 ? from : end; i < end; i++) {
                long token = slab.get(I64, offset + 8L * i);
                if (token < 0) {
                    slab.set(I64, offset + 8L * i, ignored ? PackedLm.IGNORED : ~token);
                }
            }
        }
    }
}
