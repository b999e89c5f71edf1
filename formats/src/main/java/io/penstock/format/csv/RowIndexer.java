// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.error.MalformedStoreException;
import io.penstock.internal.PrefixSums;
import io.penstock.text.LineFeeds;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Builds the index of a text file in one pass, by as many threads as there are processors.
 *
 * <p>The text is cut into chunks of equal size. Where the first row of a chunk begins depends on all bytes before it: a
 * line feed may be in quotes. So each chunk is read from behind its first line feed, as if this ended a row. Then the
 * chunks are taken in their order: if the rows of those before end where the chunk began, it was read right; if not, it
 * is read again from where they end. The result is that of one pass from the start, whatever the text.
 */
final class RowIndexer {

    /** The longest row. */
    static final int MAX_ROW_BYTES = 256 << 20;
    /** How far behind its chunk a row is followed that may not be one. */
    private static final int MAX_GUESSED_BYTES = 1 << 20;
    private static final int SLACK_BYTES = 8 << 10;
    /** The chunks whose results are kept at a time. */
    private static final int CHUNKS_AT_ONCE = 256;

    private final TextFile text;
    private final Supplier<RowReader> readers;
    private final long textEnd;
    private final int blockBytes;
    private final ThreadLocal<byte[]> buffers =
            ThreadLocal.withInitial(() -> new byte[RowBlocks.BLOCK_BYTES + 2 * SLACK_BYTES]);

    /**
     * @param start where the chunk's first row begins; negative if none does
     * @param next where the row behind its last one begins
     * @param problem what is wrong with a row; empty if nothing is
     * @param problemAt where that row begins
     */
    private record Chunk(long start, long next, long rows, long lines, RowReader reader, String problem,
            long problemAt) {
    }

    /** Blocks are the rows that begin in so many bytes, {@link RowBlocks#BLOCK_BYTES} but in tests. */
    RowIndexer(TextFile text, int blockBytes, Supplier<RowReader> readers) {
        this.text = text;
        this.blockBytes = blockBytes;
        this.readers = readers;
        this.textEnd = text.byteSize();
    }

    /** Indexes the rows from a byte on, which is behind so many line feeds. */
    RowBlocks index(long start, long linesBefore, List<String> names, char delimiter) {
        RowReader all = readers.get();
        long[] offsets = new long[16];
        long[] rows = new long[16];
        long[] lines = new long[16];
        int blocks = 0;
        long next = start;
        lines[0] = linesBefore;
        offsets[0] = start;
        long chunks = Math.ceilDiv(textEnd, (long) blockBytes);
        for (long from = start / blockBytes; from < chunks; from += CHUNKS_AT_ONCE) {
            long begin = from;
            int count = (int) Math.min(CHUNKS_AT_ONCE, chunks - from);
            // Those that the last row reaches over would be read in vain.
            @Nullable Chunk[] guessed = new Chunk[count];
            long known = next;
            IntStream.range(0, count).parallel().forEach(i -> guessed[i] = guess(begin + i, known));
            for (int i = 0; i < count; i++) {
                long end = Math.min(textEnd, (begin + i + 1) * blockBytes);
                if (next >= end) {
                    continue;
                }
                Chunk chunk = guessed[i];
                if (chunk == null || chunk.start != next) {
                    chunk = read(next, end);
                }
                if (!chunk.problem.isEmpty()) {
                    throw RowBlocks.malformed(text, RowBlocks.lineOf(text, next, lines[blocks], chunk.problemAt),
                            chunk.problem, expected());
                }
                merge(all, chunk.reader);
                next = chunk.next;
                if (chunk.rows == 0) {
                    lines[blocks] += chunk.lines;
                    continue;
                }
                if (blocks + 2 > offsets.length) {
                    offsets = Arrays.copyOf(offsets, 2 * offsets.length);
                    rows = Arrays.copyOf(rows, offsets.length);
                    lines = Arrays.copyOf(lines, offsets.length);
                }
                offsets[blocks] = chunk.start;
                rows[blocks + 1] = rows[blocks] + chunk.rows;
                lines[blocks + 1] = lines[blocks] + chunk.lines;
                offsets[++blocks] = next;
            }
        }
        checkCategories(all, names);
        return new RowBlocks(Arrays.copyOf(offsets, blocks + 1), PrefixSums.of(Arrays.copyOf(rows, blocks + 1)),
                Arrays.copyOf(lines, blocks + 1), names, delimiter, all.found,
                Arrays.stream(all.categories).map(one -> Optional.ofNullable(one).map(Categories::texts)).toList());
    }

    private static String expected() {
        return "as many fields as the header or the first row has (see \"ragged\" in docs/tables.md)";
    }

    private void checkCategories(RowReader all, List<String> names) {
        for (int c = 0; c < names.size(); c++) {
            Categories texts = all.categories[c];
            if (texts != null && texts.count() > Categories.MAX_COUNT) {
                throw new MalformedStoreException(text.location(), "column '" + names.get(c)
                        + "' of more than " + Categories.MAX_COUNT + " categories", "fewer, or the type hash:BUCKETS");
            }
        }
    }

    private static void merge(RowReader all, RowReader more) {
        for (int c = 0; c < all.found.length; c++) {
            all.found[c] |= more.found[c];
            Categories into = all.categories[c];
            Categories texts = more.categories[c];
            if (into != null && texts != null) {
                into.addAll(texts);
            }
        }
    }

    private @Nullable Chunk guess(long number, long known) {
        long begin = number * blockBytes;
        long end = Math.min(textEnd, begin + blockBytes);
        if (known >= end) {
            return null;
        }
        long start = known >= begin ? known : firstRow(begin, end);
        return start < 0 ? null : readOrNull(start, end, known >= begin ? MAX_ROW_BYTES : MAX_GUESSED_BYTES);
    }

    /** Returns the byte behind the first end of a line; negative if there is none in the chunk. */
    private long firstRow(long begin, long end) {
        byte[] bytes = buffers.get();
        int length = (int) (end - begin) + 1;
        text.read(begin - 1, bytes, length);
        for (int i = 0; i < length - 1; i++) {
            if (bytes[i] == '\n' || bytes[i] == '\r' && bytes[i + 1] != '\n') {
                return begin + i;
            }
        }
        return -1;
    }

    /** Reads the rows that begin from a row on before an end. */
    private @Nullable Chunk readOrNull(long start, long end, int maxRowBytes) {
        RowReader reader = readers.get();
        byte[] bytes = buffers.get();
        int length = (int) Math.min(end - start + SLACK_BYTES, textEnd - start);
        bytes = load(bytes, start, 0, length);
        int at = 0;
        long rows = 0;
        int stop = (int) (end - start);
        while (at < stop) {
            boolean isEnd = start + length == textEnd;
            int next = reader.row(bytes, at, length, isEnd);
            if (next == RowReader.INCOMPLETE) {
                if (isEnd || length - at > maxRowBytes) {
                    // A guess that leads nowhere is given up: the chunk is read again if it matters.
                    return maxRowBytes != MAX_ROW_BYTES ? null : new Chunk(start, start + at, rows, 0, reader, isEnd
                            ? "a field in quotes that do not end"
                            : "a row of more than " + maxRowBytes + " bytes (does a quote have no end?)", start + at);
                }
                int more = (int) Math.min(2L * length + SLACK_BYTES, textEnd - start);
                bytes = load(bytes, start, length, more);
                length = more;
                continue;
            }
            if (!reader.problem.isEmpty()) {
                return new Chunk(start, start + at, rows, 0, reader, reader.problem, start + at);
            }
            rows += reader.isCounted ? 1 : 0;
            at = next;
        }
        return new Chunk(start, start + at, rows, LineFeeds.count(bytes, at), reader, "", 0);
    }

    private Chunk read(long start, long end) {
        return Objects.requireNonNull(readOrNull(start, end, MAX_ROW_BYTES));
    }

    /** Has the bytes of a text in an array, of which some are there. */
    private byte[] load(byte[] into, long start, int there, int length) {
        byte[] bytes = into.length >= length + RowReader.PADDING_BYTES ? into
                : Arrays.copyOf(into, length + RowReader.PADDING_BYTES);
        if (bytes != into && bytes.length < 16 << 20) {
            buffers.set(bytes);
        }
        if (there == 0) {
            text.read(start, bytes, length);
        } else {
            byte[] more = new byte[length - there];
            text.read(start + there, more, more.length);
            System.arraycopy(more, 0, bytes, there, more.length);
        }
        Arrays.fill(bytes, length, length + RowReader.PADDING_BYTES, (byte) 0);
        bytes[length] = '\n';
        return bytes;
    }
}
