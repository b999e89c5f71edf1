// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.format.table.IndexChecksum;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Location;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.JsonFields;
import io.penstock.memory.LittleEndian;
import io.penstock.text.LineFeeds;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The index of a text file: where blocks of rows begin, and what its columns are. A block is the rows that begin in
 * {@link #BLOCK_BYTES} of the text, so that any row is found by reading so much.
 *
 * <p>It is kept as {@code NAME.penstock-rows} beside the file, which is a cache: one that is missing, damaged, of
 * another file, another version or other options is built again. All numbers are little-endian:
 *
 * <pre>{@code
 *  0 "PNSTKROW" | 8 i32 version | 12 i32 bytes J of the JSON | 16 i64 blocks B | 24 i32 CRC-32C of all other bytes
 * 28 i32 0 | 32 JSON: the file's size, time and content, the options, the columns, the bytes of the text
 *  … B times i64 the block's first byte, i64 the rows before it, i64 the line feeds before it; then the same of the end
 * }</pre>
 *
 * @param offsets the first byte of each block, then the end of the text
 * @param rows the rows of each block
 * @param lines the line feeds before each block, then before the end
 * @param names the names of the columns
 * @param found for each column what its fields are, as {@link ColumnType} says
 * @param categories for each column the texts of its categories, if they were collected
 */
record RowBlocks(long[] offsets, PrefixSums rows, long[] lines, List<String> names, char delimiter, int[] found,
        List<Optional<List<String>>> categories) {

    static final int BLOCK_BYTES = 128 << 10;

    private static final System.Logger LOG = System.getLogger(RowBlocks.class.getName());
    private static final String ENDING = ".penstock-rows";
    private static final byte[] MAGIC = "PNSTKROW".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 2;
    private static final int VERSION_AT = 8;
    private static final int JSON_BYTES_AT = 12;
    private static final int BLOCKS_AT = 16;
    private static final int CRC_AT = 24;
    private static final int HEADER_BYTES = 32;
    private static final int ENTRY_BYTES = 3 * Long.BYTES;
    /** Below this size, a pass over a plain file takes less time than reading an index. */
    private static final long WORTH_A_FILE_BYTES = 4 << 20;
    private static final long WORTH_A_FILE_BYTES_PACKED = 64 << 10;

    int blocks() {
        return rows.runs();
    }

    private static boolean isWorthAFile(TextFile text) {
        return text.storedBytes() >= (text.isPacked() ? WORTH_A_FILE_BYTES_PACKED : WORTH_A_FILE_BYTES);
    }

    /** Reads the index beside a file, or builds and writes it. */
    static RowBlocks of(TextFile text, String options, Supplier<RowBlocks> builder) {
        if (!isWorthAFile(text)) {
            return builder.get();
        }
        RowBlocks kept = read(text, options);
        if (kept != null) {
            return kept;
        }
        RowBlocks built = builder.get();
        built.write(text, options);
        return built;
    }

    private static Location place(Location file) throws IOException {
        return file.derived(ENDING).map(Location::of).orElseGet(() -> file.resolveSibling(file.name() + ENDING));
    }

    private static @Nullable RowBlocks read(TextFile text, String options) {
        try {
            Location place = place(text.location());
            return place.isFile() ? parse(place.readAllBytes(), text, options) : null;
        } catch (IOException | PenstockException | JsonException e) {
            LOG.log(Level.INFO, () -> "the index of " + text.location() + " cannot be read, it is built again: " + e);
            return null;
        }
    }

    private static @Nullable RowBlocks parse(byte[] bytes, TextFile text, String options) {
        MemorySegment all = MemorySegment.ofArray(bytes);
        if (bytes.length < HEADER_BYTES || !Arrays.equals(bytes, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
                || all.get(LittleEndian.I32, VERSION_AT) != VERSION
                || all.get(LittleEndian.I32, CRC_AT) != IndexChecksum.of(bytes, CRC_AT)) {
            return null;
        }
        int jsonBytes = all.get(LittleEndian.I32, JSON_BYTES_AT);
        long blocks = all.get(LittleEndian.I64, BLOCKS_AT);
        if (jsonBytes < 0 || jsonBytes > bytes.length - HEADER_BYTES || blocks < 0
                || blocks != (bytes.length - HEADER_BYTES - jsonBytes) / ENTRY_BYTES - 1
                || (bytes.length - HEADER_BYTES - jsonBytes) % ENTRY_BYTES != 0) {
            return null;
        }
        JsonFields json = JsonFields.parse(Arrays.copyOfRange(bytes, HEADER_BYTES, HEADER_BYTES + jsonBytes),
                "an index of rows");
        if (json.whole("bytes") != text.storedBytes() || json.whole("mtime") != text.mtimeNanos()
                || !json.text("content").equals(text.content()) || !json.text("options").equals(options)) {
            return null;
        }
        List<String> names = json.texts("names");
        List<Optional<List<String>>> categories = new ArrayList<>();
        for (Object texts : json.array("categories")) {
            categories.add(texts == null ? Optional.empty()
                    : Optional.of(Json.array(texts).stream().map(String::valueOf).toList()));
        }
        int[] found = Arrays.stream(json.wholes("found", 0, Integer.MAX_VALUE)).mapToInt(Math::toIntExact).toArray();
        String delimiter = json.text("delimiter");
        int count = (int) blocks + 1;
        long[] offsets = new long[count];
        long[] starts = new long[count];
        long[] lines = new long[count];
        long at = HEADER_BYTES + jsonBytes;
        for (int i = 0; i < count; i++, at += ENTRY_BYTES) {
            offsets[i] = all.get(LittleEndian.I64, at);
            starts[i] = all.get(LittleEndian.I64, at + Long.BYTES);
            lines[i] = all.get(LittleEndian.I64, at + 2 * Long.BYTES);
            if (i == 0 ? offsets[0] < 0 || starts[0] != 0 || lines[0] < 0
                    : offsets[i] <= offsets[i - 1] || starts[i] <= starts[i - 1] || lines[i] < lines[i - 1]
                            || starts[i] - starts[i - 1] > offsets[i] - offsets[i - 1]
                            || offsets[i] - offsets[i - 1] > Integer.MAX_VALUE - Long.SIZE) {
                return null;
            }
        }
        if (offsets[count - 1] > text.maxBytes() || found.length != names.size() || categories.size() != names.size()
                || delimiter.length() != 1) {
            return null;
        }
        text.expect(json.whole("text_bytes", offsets[count - 1], text.maxBytes()));
        return new RowBlocks(offsets, PrefixSums.of(starts), lines, names, delimiter.charAt(0), found, categories);
    }

    /** Writes the index; if that fails, for example in a read-only folder, it is built again at the next open. */
    private void write(TextFile text, String options) {
        Path file;
        try {
            Path local = text.location().local().orElse(null);
            file = local == null ? text.location().derived(ENDING).orElse(null)
                    : local.resolveSibling(local.getFileName() + ENDING);
        } catch (IOException e) {
            LOG.log(Level.INFO, () -> "the index of " + text.location() + " stays in memory: " + e);
            return;
        }
        if (file == null || file.getParent() != null && !Files.isWritable(file.getParent())) {
            return;
        }
        Path target = file;
        byte[] bytes = bytes(text, options);
        try {
            AtomicFile.write(target, out -> out.write(bytes));
        } catch (IOException e) {
            LOG.log(Level.INFO, () -> target + " cannot be written, the index stays in memory: " + e);
        }
    }

    private byte[] bytes(TextFile text, String options) {
        Map<String, @Nullable Object> description = Json.members("bytes", text.storedBytes(), "mtime",
                text.mtimeNanos(), "content", text.content(), "options", options, "text_bytes", text.byteSize(),
                "names", names, "delimiter", String.valueOf(delimiter), "found",
                Arrays.stream(found).boxed().toList(), "categories",
                categories.stream().map(texts -> texts.orElse(null)).toList());
        byte[] json = Json.write(description).getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[Math.toIntExact(HEADER_BYTES + json.length + (blocks() + 1L) * ENTRY_BYTES)];
        MemorySegment all = MemorySegment.ofArray(bytes);
        System.arraycopy(MAGIC, 0, bytes, 0, MAGIC.length);
        all.set(LittleEndian.I32, VERSION_AT, VERSION);
        all.set(LittleEndian.I32, JSON_BYTES_AT, json.length);
        all.set(LittleEndian.I64, BLOCKS_AT, blocks());
        System.arraycopy(json, 0, bytes, HEADER_BYTES, json.length);
        long at = HEADER_BYTES + json.length;
        for (int i = 0; i <= blocks(); i++, at += ENTRY_BYTES) {
            all.set(LittleEndian.I64, at, offsets[i]);
            all.set(LittleEndian.I64, at + Long.BYTES, rows.start(i));
            all.set(LittleEndian.I64, at + 2 * Long.BYTES, lines[i]);
        }
        all.set(LittleEndian.I32, CRC_AT, IndexChecksum.of(bytes, CRC_AT));
        return bytes;
    }

    /** Returns the line of a byte of a text, counted from 1. */
    static long lineOf(TextFile text, long from, long linesBefore, long offset) {
        byte[] bytes = new byte[BLOCK_BYTES];
        long lines = linesBefore;
        for (long at = from; at < offset; at += bytes.length) {
            int length = (int) Math.min(bytes.length, offset - at);
            text.read(at, bytes, length);
            lines += LineFeeds.count(bytes, length);
        }
        return lines + 1;
    }

    /** Returns an error about a row. */
    static MalformedStoreException malformed(TextFile text, long line, String found, String expected) {
        return new MalformedStoreException(text.location() + ": line " + line, found, expected);
    }
}
