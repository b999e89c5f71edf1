// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.DecodedBlocks.Output;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * A member of a zip archive, whose content starts at {@code dataOffset}.
 *
 * @param flags the general-purpose bits
 * @param crc the CRC-32 of the content
 */
record ZipMember(String name, int method, int flags, int crc, long storedBytes, long byteSize, long dataOffset) {

    static final int STORED = 0;
    static final int DEFLATED = 8;
    private static final int ENCRYPTED = 1;

    private static final int CHUNK_BYTES = 1 << 16;
    private static final long POPULATED_BYTES = 1 << 22;

    /** Returns why its content cannot be read; null if it can. */
    @Nullable String refusal() {
        return (flags & ENCRYPTED) != 0 ? "is encrypted"
                : method == STORED || method == DEFLATED ? null : "is compressed by method " + method;
    }

    String inWords() {
        return "member '" + name + "'";
    }

    /** Returns the first bytes of the content, at most {@code maxBytes}. */
    byte[] head(MappedFile file, int maxBytes) {
        byte[] head = new byte[(int) Math.min(maxBytes, byteSize)];
        try (Content content = new Content(file)) {
            int length = 0;
            while (length < head.length) {
                int bytes = content.next();
                if (bytes == 0) {
                    throw ends(file, length);
                }
                int kept = Math.min(bytes, head.length - length);
                System.arraycopy(content.chunk, 0, head, length, kept);
                length += kept;
            }
        }
        return head;
    }

    /** Reads all content and checks its size and CRC-32. */
    void check(MappedFile file) throws IOException {
        read(file, 0, 0, (_, _, _) -> { });
    }

    /** Passes a part of the content to an output; reads the rest too, to {@link #check} it. */
    void read(MappedFile file, long from, long length, Output output) throws IOException {
        CRC32 found = new CRC32();
        long at = 0;
        try (Content content = new Content(file)) {
            for (int bytes = content.next(); bytes > 0; bytes = content.next()) {
                found.update(content.chunk, 0, bytes);
                long first = Math.max(at, from);
                long end = Math.min(at + bytes, from + length);
                if (first < end) {
                    output.put(content.chunk, (int) (first - at), (int) (end - first));
                }
                at += bytes;
            }
        }
        if (at != byteSize) {
            throw ends(file, at);
        }
        if ((int) found.getValue() != crc) {
            throw malformed(file, String.format(Locale.ROOT, "the CRC-32 %08x", (int) found.getValue()),
                    String.format(Locale.ROOT, "%08x (its bytes have changed since it was written)", crc));
        }
    }

    private MalformedStoreException ends(MappedFile file, long bytes) {
        return malformed(file, bytes + " bytes", byteSize + ", as the directory says");
    }

    private MalformedStoreException malformed(MappedFile file, String found, String expected) {
        return new MalformedStoreException(file.location(), dataOffset, inWords() + " has " + found, expected);
    }

    /** The content, chunk by chunk. Copies bytes from the mapping before the inflater, native code, reads them. */
    private final class Content implements AutoCloseable {

        private final byte[] chunk = new byte[CHUNK_BYTES];
        private final MappedFile file;
        /** Null for a stored member. */
        private final @Nullable Inflater inflater;
        private final byte[] input;
        private long readBytes;
        private long madeBytes;

        Content(MappedFile file) {
            this.file = file;
            this.inflater = method == DEFLATED ? new Inflater(true) : null;
            this.input = method == DEFLATED ? new byte[CHUNK_BYTES] : chunk;
        }

        /** Fills the chunk with the next bytes; returns their number, 0 at the end. */
        int next() {
            int bytes = inflater == null ? feed() : inflate(inflater);
            madeBytes += bytes;
            if (madeBytes > byteSize) {
                throw malformed(file, "more than its " + byteSize + " bytes", "so many, as the directory says");
            }
            return bytes;
        }

        private int inflate(Inflater packed) {
            try {
                int bytes = packed.inflate(chunk);
                while (bytes == 0 && !packed.finished()) {
                    int fed = packed.needsInput() ? feed() : 0;
                    if (fed == 0) {
                        throw malformed(file, "deflated data that does not end", "a last block");
                    }
                    packed.setInput(input, 0, fed);
                    bytes = packed.inflate(chunk);
                }
                return bytes;
            } catch (DataFormatException e) {
                throw malformed(file, "data that does not inflate (" + e.getMessage() + ")", "deflated data");
            }
        }

        /** Copies stored bytes; returns their number, 0 at their end. */
        private int feed() {
            int bytes = (int) Math.min(CHUNK_BYTES, storedBytes - readBytes);
            if (readBytes % POPULATED_BYTES == 0) {
                file.advise(Advice.POPULATE_READ, dataOffset + readBytes,
                        Math.min(POPULATED_BYTES, storedBytes - readBytes));
            }
            MemorySegment.copy(file.segment(), ValueLayout.JAVA_BYTE, dataOffset + readBytes, input, 0, bytes);
            readBytes += bytes;
            return bytes;
        }

        @Override
        public void close() {
            if (inflater != null) {
                inflater.close();
            }
        }
    }
}
