// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.codec.DecodeLimit;
import io.penstock.tokenize.CorpusFile.Format;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a corpus as a sequence of chunks: the serial part of tokenizing, which inspects bytes only to find where to
 * cut. Not thread-safe.
 *
 * <p>A byte order mark at the start of a file is skipped; offsets count it.
 */
final class CorpusReader implements AutoCloseable {

    /** The text per task: long enough to amortize the hand-over, short enough to keep many threads busy. */
    static final int CHUNK_BYTES = 256 << 10;

    /** The longest text without the end of a word; a longer one is not text. */
    static final int MAX_WORD_BYTES = 16 << 20;

    /** The longest line of JSON. */
    static final int MAX_LINE_BYTES = 256 << 20;

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final Iterator<CorpusFile> files;
    private final DecodeLimit decodeLimit;
    private final int chunkBytes;
    private final int maxWordBytes;
    private final int maxLineBytes;
    private long storedBytes;

    private @Nullable OpenFile open;

    CorpusReader(List<CorpusFile> files, DecodeLimit decodeLimit) {
        this(files, decodeLimit, CHUNK_BYTES, MAX_WORD_BYTES, MAX_LINE_BYTES);
    }

    CorpusReader(List<CorpusFile> files, DecodeLimit decodeLimit, int chunkBytes, int maxWordBytes, int maxLineBytes) {
        this.files = files.iterator();
        this.decodeLimit = decodeLimit;
        this.chunkBytes = chunkBytes;
        this.maxWordBytes = maxWordBytes;
        this.maxLineBytes = maxLineBytes;
    }

    /** Bytes read from disk so far. */
    long storedBytes() {
        return storedBytes;
    }

    /** {@return the next chunk, or null after the last one} */
    @Nullable Chunk next() throws IOException {
        if (open == null) {
            if (!files.hasNext()) {
                return null;
            }
            open = new OpenFile(files.next());
            open.skipByteOrderMark();
        }
        Chunk chunk = open.next();
        if (chunk.endsFile()) {
            close();
        }
        return chunk;
    }

    /** Closes the current file. */
    @Override
    public void close() throws IOException {
        if (open != null) {
            open.in.close();
            open = null;
        }
    }

    private static long lineFeeds(byte[] bytes, int length) {
        long count = 0;
        for (int i = 0; i < length; i++) {
            if (bytes[i] == '\n') {
                count++;
            }
        }
        return count;
    }

    /** The file that is read. */
    private final class OpenFile {

        private final CorpusFile file;
        private final boolean isText;
        private final InputStream in;
        /** Bytes read but not yet returned, from index 0. */
        private byte[] rest = new byte[chunkBytes];
        private int restBytes;
        private long offset;
        private long line = 1;

        OpenFile(CorpusFile file) throws IOException {
            this.file = file;
            this.isText = file.format() == Format.TEXT;
            this.in = file.open(bytes -> storedBytes += bytes, decodeLimit);
        }

        void skipByteOrderMark() throws IOException {
            fill();
            int mark = BYTE_ORDER_MARK.length;
            if (restBytes >= mark && Arrays.equals(rest, 0, mark, BYTE_ORDER_MARK, 0, mark)) {
                offset = mark;
                restBytes -= mark;
                System.arraycopy(rest, mark, rest, 0, restBytes);
            }
        }

        Chunk next() throws IOException {
            int searched = 1;
            while (fill()) {
                int cut = lastCut(searched);
                if (cut > 0) {
                    return take(cut, false);
                }
                searched = Math.max(1, restBytes - 2);
                grow();
            }
            return take(restBytes, true);
        }

        /** Reads until the buffer is full; returns false at the end of the file. */
        private boolean fill() throws IOException {
            try {
                restBytes += in.readNBytes(rest, restBytes, rest.length - restBytes);
                return restBytes == rest.length;
            } catch (IOException e) {
                throw file.readFailure(e);
            }
        }

        private int lastCut(int from) {
            if (isText) {
                return TextCut.last(rest, from, restBytes);
            }
            for (int at = restBytes; at >= from; at--) {
                if (rest[at - 1] == '\n') {
                    return at;
                }
            }
            return -1;
        }

        private Chunk take(int bytes, boolean endsFile) {
            Chunk chunk = new Chunk(file, rest, bytes, offset, line, endsFile);
            if (!isText) {
                line += lineFeeds(rest, bytes);
            }
            byte[] next = new byte[Math.max(chunkBytes, restBytes - bytes + 1)];
            System.arraycopy(rest, bytes, next, 0, restBytes - bytes);
            rest = next;
            restBytes -= bytes;
            offset += bytes;
            return chunk;
        }

        private void grow() throws CorpusException {
            int maxBytes = isText ? maxWordBytes : maxLineBytes;
            if (rest.length >= maxBytes) {
                throw CorpusException.atByte(file.path(), offset, isText
                        ? "found a word longer than " + maxBytes + " bytes, expected text"
                        : "found a line longer than " + maxBytes + " bytes, expected JSON lines");
            }
            rest = Arrays.copyOf(rest, (int) Math.min(maxBytes, 2L * rest.length));
        }
    }
}
