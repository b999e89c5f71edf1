// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.internal.PrefixSums;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;

/**
 * Locates the sequences of an index, and their tokens, that are not one run in the {@code .bin}. Positions count
 * through the sequences in the order of the index.
 *
 * <p>Keeps the position of every {@value #BLOCK_SEQUENCES}th sequence, 8 bytes of heap each, and adds the lengths of
 * the sequences between. Finds a token by binary search.
 */
final class SequencePositions {

    private static final int BLOCK_SEQUENCES = 32;

    private final MegatronIndex index;
    private final MappedFile tokenFile;
    private final int tokenBytes;
    /** The tokens of each block of sequences. */
    private final PrefixSums blocks;
    private final boolean documentsAreRuns;

    SequencePositions(MegatronIndex index, MappedFile tokenFile) {
        this.index = index;
        this.tokenFile = tokenFile;
        this.tokenBytes = index.dtype().byteSize();
        long[] before = new long[Math.toIntExact(Math.ceilDiv(index.sequences(), (long) BLOCK_SEQUENCES) + 1)];
        long tokens = 0;
        for (long sequence = 0; sequence < index.sequences(); sequence++) {
            if (sequence % BLOCK_SEQUENCES == 0) {
                before[(int) (sequence / BLOCK_SEQUENCES)] = tokens;
            }
            tokens += index.length(sequence);
        }
        before[before.length - 1] = tokens;
        this.blocks = PrefixSums.of(before);
        this.documentsAreRuns = findDocumentsAreRuns();
    }

    private boolean findDocumentsAreRuns() {
        for (long document = 0; document < index.documents(); document++) {
            long first = index.firstSequence(document);
            long end = index.firstSequence(document + 1);
            while (first < end && index.length(first) == 0) {
                first++;
            }
            if (first < end && !isRun(first, end, Long.MAX_VALUE)) {
                return false;
            }
        }
        return true;
    }

    /** Tells whether the tokens of each document are one run. */
    boolean documentsAreRuns() {
        return documentsAreRuns;
    }

    /** Returns the position of a sequence's first token; for the number of sequences, the number of tokens. */
    long position(long sequence) {
        if (sequence == index.sequences()) {
            return blocks.total();
        }
        int block = (int) (sequence / BLOCK_SEQUENCES);
        long position = blocks.start(block);
        for (long s = (long) block * BLOCK_SEQUENCES; s < sequence; s++) {
            position += index.length(s);
        }
        return position;
    }

    private long sequenceOf(long token) {
        int block = blocks.runOf(token);
        long sequence = (long) block * BLOCK_SEQUENCES;
        for (long end = blocks.start(block) + index.length(sequence); end <= token; end += index.length(sequence)) {
            sequence++;
        }
        return sequence;
    }

    /** Returns the number of pieces of a range of tokens: 1 if they are contiguous, otherwise one per sequence. */
    int parts(long firstToken, long tokens) {
        if (tokens == 0) {
            return 1;
        }
        long first = sequenceOf(firstToken);
        return isRun(first, index.sequences(), firstToken + tokens - position(first)) ? 1
                : Math.toIntExact(sequenceOf(firstToken + tokens - 1) - first + 1);
    }

    /** Locates a piece of a range of tokens; returns false if it does not exist. */
    boolean locatePart(long firstToken, long tokens, int part, Span into) {
        if (tokens == 0) {
            into.set(tokenFile, 0, 0);
            return part == 0;
        }
        long first = sequenceOf(firstToken);
        long sequence = first + part;
        if (part < 0 || sequence >= index.sequences()) {
            return false;
        }
        long start = position(sequence);
        long from = Math.max(firstToken, start);
        long end = firstToken + tokens;
        if (part > 0 || !isRun(first, index.sequences(), end - start)) {
            end = Math.min(end, start + index.length(sequence));
        }
        into.set(tokenFile, index.pointer(sequence) + (from - start) * tokenBytes,
                Math.max(0, end - from) * tokenBytes);
        return from < firstToken + tokens;
    }

    /** Tells whether a number of tokens from the first sequence on are contiguous. */
    private boolean isRun(long first, long end, long tokens) {
        long pointer = index.pointer(first);
        long left = tokens;
        for (long sequence = first; sequence < end && left > 0; sequence++) {
            long length = index.length(sequence);
            if (length > 0 && index.pointer(sequence) != pointer) {
                return false;
            }
            pointer += length * tokenBytes;
            left -= length;
        }
        return true;
    }
}
