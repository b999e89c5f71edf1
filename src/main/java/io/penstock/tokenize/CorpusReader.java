package io.penstock.tokenize;

import io.penstock.codec.DecodeLimit;
import io.penstock.tokenize.CorpusFile.Format;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

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
    private final ByteCount stored = new ByteCount();

    private CorpusFile file;
    private InputStream in;
    /** Bytes read but not yet returned, from index 0. */
    private byte[] rest;
    private int restBytes;
    private long offset;
    private long line;

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
        return stored.get();
    }

    /** {@return the next chunk, or null after the last one} */
    Chunk next() throws IOException {
        if (file == null) {
            if (!files.hasNext()) {
                return null;
            }
            open(files.next());
        }
        int searched = 1;
        for (;;) {
            boolean atEnd = !fill();
            if (atEnd) {
                Chunk last = take(restBytes, true);
                close();
                return last;
            }
            int cut = lastCut(searched);
            if (cut > 0) {
                return take(cut, false);
            }
            searched = Math.max(1, restBytes - 2);
            grow();
        }
    }

    private void open(CorpusFile next) throws IOException {
        in = next.open(stored, decodeLimit);
        file = next;
        rest = new byte[chunkBytes];
        restBytes = 0;
        offset = 0;
        line = 1;
        fill();
        if (startsWithByteOrderMark()) {
            offset = BYTE_ORDER_MARK.length;
            restBytes -= BYTE_ORDER_MARK.length;
            System.arraycopy(rest, BYTE_ORDER_MARK.length, rest, 0, restBytes);
        }
    }

    private boolean startsWithByteOrderMark() {
        int mark = BYTE_ORDER_MARK.length;
        return restBytes >= mark && Arrays.equals(rest, 0, mark, BYTE_ORDER_MARK, 0, mark);
    }

    /** Reads until the buffer is full; returns false at the end of the file. */
    private boolean fill() throws IOException {
        try {
            int read = in.readNBytes(rest, restBytes, rest.length - restBytes);
            restBytes += read;
            return restBytes == rest.length;
        } catch (IOException e) {
            throw file.readFailure(e);
        }
    }

    private int lastCut(int from) {
        if (file.format() == Format.TEXT) {
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
        if (file.format() == Format.JSON_LINES) {
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
        boolean text = file.format() == Format.TEXT;
        int maxBytes = text ? maxWordBytes : maxLineBytes;
        if (rest.length >= maxBytes) {
            throw CorpusException.atByte(file.path(), offset, text
                    ? "found a word longer than " + maxBytes + " bytes, expected text"
                    : "found a line longer than " + maxBytes + " bytes, expected JSON lines");
        }
        rest = Arrays.copyOf(rest, (int) Math.min(maxBytes, 2L * rest.length));
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

    /** Closes the current file. */
    @Override
    public void close() throws IOException {
        if (in != null) {
            in.close();
        }
        in = null;
        file = null;
        rest = null;
    }
}
