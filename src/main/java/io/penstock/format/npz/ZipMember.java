package io.penstock.format.npz;

import io.penstock.io.Advice;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.spill.DecodedBlocks.Output;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * A member of a zip archive.
 *
 * @param name its name
 * @param method {@link #STORED} or {@link #DEFLATED}
 * @param flags the general purpose bits
 * @param crc the CRC-32 of its content
 * @param storedBytes bytes in the archive
 * @param byteSize bytes of its content
 * @param dataOffset its first byte in the archive
 */
record ZipMember(String name, int method, int flags, int crc, long storedBytes, long byteSize, long dataOffset) {

    static final int STORED = 0;
    static final int DEFLATED = 8;

    private static final int CHUNK_BYTES = 1 << 16;
    private static final long POPULATED_BYTES = 1 << 22;

    /** How messages name it. */
    String inWords() {
        return "member '" + name + "'";
    }

    /** The content where it is stored as it is. */
    MemorySegment stored(MappedFile file) {
        return file.segment().asSlice(dataOffset, byteSize);
    }

    /** The first bytes of the content: all, or so many. */
    byte[] head(MappedFile file, int maxBytes) throws MalformedStoreException {
        byte[] head = new byte[(int) Math.min(maxBytes, byteSize)];
        try (Content content = new Content(file)) {
            int length = 0;
            while (length < head.length) {
                int bytes = content.next();
                if (bytes == 0) {
                    throw malformed(file, length + " bytes", byteSize + ", as the directory says");
                }
                int kept = Math.min(bytes, head.length - length);
                System.arraycopy(content.chunk, 0, head, length, kept);
                length += kept;
            }
        }
        return head;
    }

    /** Reads the content to its end and checks that it is whole: its size and its CRC-32. */
    void check(MappedFile file) throws IOException {
        read(file, 0, 0, (_, _, _) -> { });
    }

    /** Reads a part of the content to somewhere, and the rest as well, to {@link #check} it. */
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
            throw malformed(file, at + " bytes", byteSize + ", as the directory says");
        }
        if ((int) found.getValue() != crc) {
            throw malformed(file, String.format("the CRC-32 %08x", (int) found.getValue()),
                    String.format("%08x (its bytes have changed since it was written)", crc));
        }
    }

    private MalformedStoreException malformed(MappedFile file, String found, String expected) {
        return new MalformedStoreException(file.location(), dataOffset, inWords() + " has " + found, expected);
    }

    /** The content, chunk by chunk. Bytes are copied out of the mapping before the inflater has them. */
    private final class Content implements AutoCloseable {

        private final byte[] chunk = new byte[CHUNK_BYTES];
        private final MappedFile file;
        private final Inflater inflater;
        private final byte[] input;
        private long readBytes;
        private long madeBytes;

        Content(MappedFile file) {
            this.file = file;
            this.inflater = method == DEFLATED ? new Inflater(true) : null;
            this.input = method == DEFLATED ? new byte[CHUNK_BYTES] : chunk;
        }

        /** Fills the chunk with what comes next; returns how many bytes, 0 at the end. */
        int next() throws MalformedStoreException {
            int bytes = inflater == null ? feed() : inflate();
            madeBytes += bytes;
            if (madeBytes > byteSize) {
                throw malformed(file, "more than its " + byteSize + " bytes", "so many, as the directory says");
            }
            return bytes;
        }

        private int inflate() throws MalformedStoreException {
            try {
                int bytes = inflater.inflate(chunk);
                while (bytes == 0 && !inflater.finished()) {
                    int fed = inflater.needsInput() ? feed() : 0;
                    if (fed == 0) {
                        throw malformed(file, "deflated data that does not end", "a last block");
                    }
                    inflater.setInput(input, 0, fed);
                    bytes = inflater.inflate(chunk);
                }
                return bytes;
            } catch (DataFormatException e) {
                throw malformed(file, "data that does not inflate (" + e.getMessage() + ")", "deflated data");
            }
        }

        /** Copies stored bytes; returns how many, 0 at their end. */
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
