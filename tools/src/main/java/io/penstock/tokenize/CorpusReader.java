// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.codec.decoder.TextInput;
import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.DecodeLimit;
import io.penstock.json.JsonLine;
import io.penstock.text.LineFeeds;
import io.penstock.tokenize.CorpusFile.Format;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a corpus as a sequence of chunks: the serial part of tokenizing, which inspects bytes only to find where to
 * cut. For one thread at a time. It reuses the array of a chunk if that has the usual size.
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

    /** An array for more chunks than this, made for a long line, is not reused. */
    private static final int KEPT_CHUNKS = 16;

    private final Iterator<CorpusFile> files;
    private final DecodeLimit decodeLimit;
    private final int chunkBytes;
    private final int maxWordBytes;
    private final int maxLineBytes;
    private long storedBytes;

    private @Nullable OpenFile open;
    /** The buffer of the next file. */
    private byte[] buffer;

    CorpusReader(List<CorpusFile> files, DecodeLimit decodeLimit) {
        this(files, decodeLimit, CHUNK_BYTES, MAX_WORD_BYTES, MAX_LINE_BYTES);
    }

    CorpusReader(List<CorpusFile> files, DecodeLimit decodeLimit, int chunkBytes, int maxWordBytes, int maxLineBytes) {
        this.files = files.iterator();
        this.decodeLimit = decodeLimit;
        this.chunkBytes = chunkBytes;
        this.maxWordBytes = maxWordBytes;
        this.maxLineBytes = maxLineBytes;
        this.buffer = new byte[chunkBytes];
    }

    /** Bytes read from disk so far. */
    long storedBytes() {
        return storedBytes;
    }

    /** Reads the next chunk; returns false after the last one. */
    boolean next(Chunk into) throws IOException {
        OpenFile file = open;
        if (file == null) {
            if (!files.hasNext()) {
                return false;
            }
            file = new OpenFile(files.next());
            open = file;
            file.start();
        }
        file.next(into);
        if (into.endsFile()) {
            close();
        }
        return true;
    }

    /** Closes the current file. */
    @Override
    public void close() throws IOException {
        if (open != null) {
            open.in.close();
            open = null;
        }
    }

    /** The file that is open. */
    private final class OpenFile {

        private final CorpusFile file;
        private final boolean isText;
        private final InputStream in;
        /** Bytes read but not yet returned, from index 0. */
        private byte[] rest = buffer;
        private int restBytes;
        private long offset;
        private long line = 1;

        OpenFile(CorpusFile file) throws IOException {
            this.file = file;
            this.isText = file.format() == Format.TEXT;
            this.in = file.open(bytes -> storedBytes += bytes, decodeLimit);
            this.offset = file.start();
        }

        /** Looks at the first bytes: fails if they are not of text, and skips a byte order mark. */
        void start() throws IOException {
            fill();
            if (offset > 0) {
                return;
            }
            int mark;
            try {
                mark = TextInput.start(rest, 0, restBytes);
            } catch (CodecException e) {
                throw file.named(e);
            }
            offset = mark;
            restBytes -= mark;
            System.arraycopy(rest, mark, rest, 0, restBytes);
        }

        void next(Chunk into) throws IOException {
            int searched = 1;
            while (fill()) {
                int cut = lastCut(searched);
                if (cut > 0) {
                    take(into, cut, false);
                    return;
                }
                searched = Math.max(1, restBytes - 2);
                grow();
            }
            take(into, restBytes, true);
        }

        /** Reads until the buffer is full; returns false at the end of the file. */
        private boolean fill() throws IOException {
            try {
                restBytes += in.readNBytes(rest, restBytes, rest.length - restBytes);
                return restBytes == rest.length;
            } catch (PenstockException e) {
                throw file.named(e);
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

        private void take(Chunk into, int bytes, boolean endsFile) {
            byte[] whole = rest;
            byte[] free = into.set(file, whole, bytes, offset, line, endsFile);
            if (!isText) {
                line += LineFeeds.count(whole, bytes);
            }
            int left = restBytes - bytes;
            // A chunk's array may be longer, after a long line, or shorter than this file needs.
            rest = free.length >= chunkBytes && free.length <= KEPT_CHUNKS * chunkBytes && free.length > left ? free
                    : new byte[Math.max(chunkBytes, left + 1)];
            buffer = rest;
            System.arraycopy(whole, bytes, rest, 0, left);
            restBytes = left;
            offset += bytes;
        }

        private void grow() throws IOException {
            int maxBytes = isText ? maxWordBytes : maxLineBytes;
            if (rest.length >= maxBytes) {
                String array = isText ? "" : JsonLine.noObject(rest, 0, restBytes);
                if (!array.isEmpty()) {
                    throw new MalformedStoreException(file.path(), "at line " + (file.linesBefore() + line)
                            + ": " + array);
                }
                throw new MalformedStoreException(file.path(), "at byte " + offset + ": found a "
                        + (isText ? "word" : "line") + " longer than " + maxBytes + " bytes, expected "
                        + (isText ? "text" : "JSON lines"));
            }
            try {
                rest = Arrays.copyOf(rest, (int) Math.min(maxBytes, 2L * rest.length));
            } catch (OutOfMemoryError e) {
                throw new IOException(file.path() + ": no memory for the " + (isText ? "word" : "line") + " at byte "
                        + offset + ", which is longer than " + rest.length + " bytes", e);
            }
        }
    }
}
