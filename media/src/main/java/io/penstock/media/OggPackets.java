// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * Where the packets of an Ogg file are. A packet that goes on in the next page is in pieces: the header of a page is
 * between them. From RFC 3533.
 */
final class OggPackets {

    private static final int MAGIC = 0x5367674F;
    private static final int HEADER_BYTES = 27;
    private static final int SERIAL = 14;
    private static final int SEGMENTS = 26;
    private static final int WHOLE = 255;
    private static final int MAX_PIECES = 1024;

    private final MemorySegment file;
    /** The next page, and of the present one: the next segment, the number of them, the next byte. */
    private long page;
    private long table;
    private int segment;
    private int segments;
    private long body;
    private int serial;
    /** The pieces of the packet. */
    final long[] position = new long[MAX_PIECES];
    final int[] size = new int[MAX_PIECES];
    int pieces;

    OggPackets(MemorySegment file) {
        this.file = file;
    }

    static boolean is(MemorySegment file) {
        return file.byteSize() >= HEADER_BYTES && file.get(JAVA_INT_UNALIGNED, 0) == MAGIC;
    }

    /** Finds the next packet; false at the end, or at bytes that are no page. */
    boolean next() {
        pieces = 0;
        int before = 0;
        while (true) {
            if (segment == segments) {
                if (!openPage() || pieces > 0 && serial != before) {
                    return false;
                }
                continue;
            }
            if (pieces == MAX_PIECES) {
                return false;
            }
            before = serial;
            if (takePiece()) {
                return true;
            }
        }
    }

    /** Adds what the page has of the packet; true if that is its end. */
    private boolean takePiece() {
        position[pieces] = body;
        int bytes = 0;
        int length = WHOLE;
        while (segment < segments && length == WHOLE) {
            length = file.get(JAVA_BYTE, table + segment++) & 0xFF;
            bytes += length;
        }
        size[pieces++] = bytes;
        body += bytes;
        return length < WHOLE;
    }

    private boolean openPage() {
        if (page + HEADER_BYTES > file.byteSize() || file.get(JAVA_INT_UNALIGNED, page) != MAGIC) {
            return false;
        }
        serial = file.get(JAVA_INT_UNALIGNED, page + SERIAL);
        segments = file.get(JAVA_BYTE, page + SEGMENTS) & 0xFF;
        segment = 0;
        table = page + HEADER_BYTES;
        body = table + segments;
        long end = body;
        if (body > file.byteSize()) {
            return false;
        }
        for (int i = 0; i < segments; i++) {
            end += file.get(JAVA_BYTE, table + i) & 0xFF;
        }
        page = end;
        return end <= file.byteSize();
    }

    int bytes() {
        int sum = 0;
        for (int i = 0; i < pieces; i++) {
            sum += size[i];
        }
        return sum;
    }

    /** Tells whether the packet has these bytes. */
    boolean hasBytes(MemorySegment packet) {
        if (packet.byteSize() != bytes()) {
            return false;
        }
        long at = 0;
        for (int i = 0; i < pieces; i++) {
            if (MemorySegment.mismatch(packet, at, at + size[i], file, position[i], position[i] + size[i]) >= 0) {
                return false;
            }
            at += size[i];
        }
        return true;
    }
}
