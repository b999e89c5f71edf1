// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A message of a stream, and where its parts are.
 *
 * <pre>
 *   i32  0xFFFFFFFF, the continuation: absent before version 0.15 of the format
 *   i32  bytes of the metadata; 0 at the end of the stream
 *   ...  the metadata: a FlatBuffer
 *   ...  the body
 * </pre>
 *
 * @see <a href="https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc">
 *     Arrow's columnar format</a>
 */
record ArrowMessage(int type, int version, FlatTable header, long bodyStart, long bodyBytes) {

    static final int SCHEMA = 1;
    static final int DICTIONARY_BATCH = 2;
    static final int RECORD_BATCH = 3;

    /** The least version of the metadata that is read; before it, buffers had another form. */
    private static final int V4 = 3;
    static final int V5 = 4;

    private static final int CONTINUATION = -1;

    /** Reads bytes of messages. */
    @FunctionalInterface
    interface Source {
        MemorySegment range(long offset, long bytes);
    }

    /** Returns the offset after the message. */
    long end() {
        return bodyStart + bodyBytes;
    }

    /** Reads the message at {@code start}, which ends at {@code end} at the latest; null at the end of the stream. */
    static @Nullable ArrowMessage read(Location file, Source bytes, long start, long end) {
        if (start == end) {
            return null;
        }
        long at = start;
        int length = prefix(file, bytes, at, end);
        at += Integer.BYTES;
        if (length == CONTINUATION) {
            length = prefix(file, bytes, at, end);
            at += Integer.BYTES;
        }
        if (length == 0) {
            return null;
        }
        if (length < 0 || length > end - at) {
            throw new MalformedStoreException(file, at - Integer.BYTES, "a message with " + length
                    + " bytes of metadata", "at most the " + (end - at) + " that follow");
        }
        FlatTable message = FlatTable.root(file, bytes.range(at, length), at);
        int version = message.i16(0, 0);
        if (version < V4 || version > V5) {
            throw message.malformed("metadata of version V" + (version + 1), "V4 or V5");
        }
        int type = message.u8(1, 0);
        FlatTable header = message.table(2);
        long bodyBytes = message.i64(3, 0);
        if (type < SCHEMA || type > RECORD_BATCH || header == null) {
            throw message.malformed("a message of type " + type + (header == null ? " without its header" : ""),
                    "a schema, a dictionary or a record batch");
        }
        long bodyStart = at + length;
        if (bodyBytes < 0 || bodyBytes > end - bodyStart) {
            throw new MalformedStoreException(file, end, "the file ends inside a message, "
                    + (end - bodyStart) + " bytes into its body", bodyBytes + " bytes");
        }
        return new ArrowMessage(type, version, header, bodyStart, bodyBytes);
    }

    private static int prefix(Location file, Source bytes, long at, long end) {
        if (end - at < Integer.BYTES) {
            throw new MalformedStoreException(file, end, "the file ends inside a message", "its length");
        }
        return bytes.range(at, Integer.BYTES).get(LittleEndian.I32, 0);
    }

    /** Tells whether a file starts as a stream: with a schema's message. */
    static boolean isStream(Location file, byte[] head) {
        MemorySegment bytes = MemorySegment.ofArray(head);
        if (head.length < 4 * Integer.BYTES) {
            return false;
        }
        int at = bytes.get(LittleEndian.I32, 0) == CONTINUATION ? 2 * Integer.BYTES : Integer.BYTES;
        int length = bytes.get(LittleEndian.I32, at - Integer.BYTES);
        if (length < 2 * Integer.BYTES || length % Integer.BYTES != 0) {
            return false;
        }
        try {
            FlatTable message = FlatTable.root(file, bytes.asSlice(at, Math.min(length, head.length - at)), at);
            return message.u8(1, 0) == SCHEMA && message.i16(0, 0) >= 0 && message.i16(0, 0) <= V5
                    && message.i64(3, 0) == 0 && message.hasField(2);
        } catch (MalformedStoreException _) {
            return false;
        }
    }
}
