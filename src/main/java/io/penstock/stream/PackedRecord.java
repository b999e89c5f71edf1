// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.penstock.dataset.Packing.PackedWindow;
import java.lang.foreign.MemorySegment;

/**
 * A packed sequence as a record in memory:
 *
 * <pre>
 *   0    number of pieces n
 *   4    tokens of all pieces
 *   8    for each piece: where its tokens are in the data, and how many; then where the data ends
 *   8n+12  the data: the tokens of each piece, and the next one of its document if that continues
 * </pre>
 *
 * <p>Numbers have 4 bytes; places in the data are counted in tokens.
 */
final class PackedRecord {

    private static final int HEADER = 8;
    private static final int PIECE = 8;

    static long maxBytes(int capacity, int parts, int tokenBytes) {
        return data(parts) + ((long) capacity + parts) * tokenBytes;
    }

    /** Where the data begins. */
    private static long data(int parts) {
        return HEADER + (long) PIECE * parts + Integer.BYTES;
    }

    /** Writes a sequence, and returns its bytes. */
    static long write(MemorySegment into, PackedWindow window, int sequence, RecordBuffer documents, int tokenBytes) {
        int parts = window.parts(sequence);
        long data = data(parts);
        int tokens = 0;
        int end = 0;
        for (int part = 0; part < parts; part++) {
            int document = window.document(sequence, part);
            int length = window.length(sequence, part);
            long from = documents.begin(document) + window.firstToken(sequence, part) * tokenBytes;
            long left = (documents.end(document) - from) / tokenBytes;
            int copied = (int) Math.min(length + 1L, left);
            into.set(JAVA_INT_UNALIGNED, HEADER + (long) PIECE * part, end);
            into.set(JAVA_INT_UNALIGNED, HEADER + (long) PIECE * part + Integer.BYTES, length);
            MemorySegment.copy(documents.bytes(), from, into, data + (long) end * tokenBytes,
                    (long) copied * tokenBytes);
            tokens += length;
            end += copied;
        }
        into.set(JAVA_INT_UNALIGNED, 0, parts);
        into.set(JAVA_INT_UNALIGNED, Integer.BYTES, tokens);
        into.set(JAVA_INT_UNALIGNED, data - Integer.BYTES, end);
        return data + (long) end * tokenBytes;
    }

    static int parts(MemorySegment bytes, long at) {
        return bytes.get(JAVA_INT_UNALIGNED, at);
    }

    static int tokens(MemorySegment bytes, long at) {
        return bytes.get(JAVA_INT_UNALIGNED, at + Integer.BYTES);
    }

    static int length(MemorySegment bytes, long at, int part) {
        return bytes.get(JAVA_INT_UNALIGNED, at + HEADER + (long) PIECE * part + Integer.BYTES);
    }

    /** Where a piece's tokens begin in the record; that of the piece behind the last is the record's end. */
    static long begin(MemorySegment bytes, long at, int part, int tokenBytes) {
        return data(parts(bytes, at))
                + (long) bytes.get(JAVA_INT_UNALIGNED, at + HEADER + (long) PIECE * part) * tokenBytes;
    }
}
