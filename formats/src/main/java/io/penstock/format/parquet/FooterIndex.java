// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.table.IndexChecksum;
import io.penstock.io.FileInfo;
import io.penstock.io.Location;
import io.penstock.io.publish.AtomicFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the footers of a folder's files say, so that the next open reads one file of each schema, and asks of the others
 * only whether they are the same.
 *
 * <p>It is kept as {@code NAME.penstock-footers} beside the folder, which is a cache: one that is missing, damaged or
 * of another version is written again, and a file that it does not have, or that has another size or version by now, is
 * opened. All numbers are little-endian:
 *
 * <pre>{@code
 *  0 "PNSTKFTR" | 8 i32 version | 12 i32 CRC-32C of all other bytes | 16 i32 files | 20 i32 bytes of the fingerprint
 * 24 the fingerprint of the table, if it is known; then for each file
 *  … i32 number of its schema | i32 row groups G | u16 bytes of its name | u16 bytes of its version | i64 its size
 *    G times i64 rows | its path in the folder | its version, as FileInfo has it
 * }</pre>
 *
 * @param fingerprint the table's, if it has exactly these files; empty if it is not known
 * @param files what is known of a file, by its path in the folder
 */
record FooterIndex(String fingerprint, Map<String, Entry> files) {

    /** Fewer files are opened anew as fast. */
    static final int WORTH_FILES = 64;
    static final String ENDING = ".penstock-footers";

    private static final System.Logger LOG = System.getLogger(FooterIndex.class.getName());
    private static final byte[] MAGIC = "PNSTKFTR".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 1;
    private static final int CRC_AT = 12;
    private static final int HEADER_BYTES = 24;
    private static final int ENTRY_BYTES = 20;
    private static final int MOST_TEXT_BYTES = 0xFFFF;
    private static final FooterIndex NONE = new FooterIndex("", Map.of());

    /**
     * A file.
     *
     * @param schema the same number for files of one schema
     * @param rows the rows of each row group
     */
    record Entry(int schema, long byteSize, String version, long[] rows) {

        /** Tells whether a file is still the one that was indexed. */
        boolean is(FileInfo file) {
            return file.kind() == FileInfo.EntryKind.FILE && file.byteSize() == byteSize
                    && file.version().equals(version);
        }
    }

    /** Returns the place of the index of a local folder of many files; null if there is none. */
    static @Nullable Path place(Location folder, int files) throws IOException {
        Path local = files < WORTH_FILES ? null : folder.local().map(Path::toAbsolutePath).orElse(null);
        return local == null || local.getFileName() == null ? null
                : local.resolveSibling(local.getFileName() + ENDING);
    }

    /** Returns the path of a file in its folder. */
    static String nameOf(Location folder, Location file) {
        return file.path().startsWith(folder.path()) ? file.path().substring(folder.path().length()) : file.path();
    }

    /** Reads an index; one that is missing or damaged is empty. */
    static FooterIndex read(Path place) {
        try {
            Location file = Location.of(place);
            return file.isFile() ? parse(file.readAllBytes()) : NONE;
        } catch (IOException | MalformedStoreException | BufferUnderflowException | IllegalArgumentException e) {
            LOG.log(Level.INFO, () -> place + " cannot be read, the files are opened: " + e);
            return NONE;
        }
    }

    private static FooterIndex parse(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < HEADER_BYTES || !Arrays.equals(bytes, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
                || in.getInt(MAGIC.length) != VERSION || in.getInt(CRC_AT) != IndexChecksum.of(bytes, CRC_AT)) {
            throw new IllegalArgumentException("it is damaged, or of another version");
        }
        in.position(CRC_AT + Integer.BYTES);
        int count = in.getInt();
        String fingerprint = text(in, in.getInt());
        Map<String, Entry> files = HashMap.newHashMap(Math.clamp(count, 0, in.remaining() / ENTRY_BYTES));
        for (int i = 0; i < count; i++) {
            int schema = in.getInt();
            int groups = in.getInt();
            int nameBytes = Short.toUnsignedInt(in.getShort());
            int versionBytes = Short.toUnsignedInt(in.getShort());
            long byteSize = in.getLong();
            if (groups < 0 || groups > in.remaining() / Long.BYTES) {
                throw new IllegalArgumentException(groups + " row groups");
            }
            long[] rows = new long[groups];
            for (int g = 0; g < groups; g++) {
                rows[g] = in.getLong();
                if (rows[g] < 0 || rows[g] > RowGroup.MAX_ROWS) {
                    throw new IllegalArgumentException("a row group of " + rows[g] + " rows");
                }
            }
            String name = text(in, nameBytes);
            files.put(name, new Entry(schema, byteSize, text(in, versionBytes), rows));
        }
        return new FooterIndex(fingerprint, files);
    }

    private static String text(ByteBuffer in, int bytes) {
        if (bytes < 0 || bytes > in.remaining()) {
            throw new IllegalArgumentException("a text of " + bytes + " bytes");
        }
        String text = new String(in.array(), in.position(), bytes, UTF_8);
        in.position(in.position() + bytes);
        return text;
    }

    /** Writes an index; if that fails, for example in a read-only folder, the next open reads the footers again. */
    static void write(Path place, Location folder, List<ParquetPart> parts, String fingerprint) {
        if (place.getParent() == null || !Files.isWritable(place.getParent())) {
            return;
        }
        byte[] bytes = bytes(folder, parts, fingerprint);
        if (bytes.length == 0) {
            return;
        }
        try {
            AtomicFile.write(place, out -> out.write(bytes));
        } catch (IOException e) {
            LOG.log(Level.INFO, () -> place + " cannot be written, the next open reads all footers: " + e);
        }
    }

    /** Returns the index of files; nothing if it would be too large. */
    private static byte[] bytes(Location folder, List<ParquetPart> parts, String fingerprint) {
        byte[] known = fingerprint.getBytes(UTF_8);
        byte[][] names = new byte[parts.size()][];
        byte[][] versions = new byte[parts.size()][];
        long size = HEADER_BYTES + known.length;
        for (int p = 0; p < names.length; p++) {
            ParquetPart part = parts.get(p);
            names[p] = nameOf(folder, part.location()).getBytes(UTF_8);
            versions[p] = part.version().getBytes(UTF_8);
            size += ENTRY_BYTES + (long) part.rows().length * Long.BYTES + names[p].length + versions[p].length;
            if (names[p].length > MOST_TEXT_BYTES || versions[p].length > MOST_TEXT_BYTES
                    || size > Integer.MAX_VALUE - Long.BYTES) {
                return new byte[0];
            }
        }
        Map<Schema, Integer> schemas = new IdentityHashMap<>();
        ByteBuffer out = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
        out.put(MAGIC).putInt(VERSION).putInt(0).putInt(names.length).putInt(known.length).put(known);
        for (int p = 0; p < names.length; p++) {
            ParquetPart part = parts.get(p);
            int schema = schemas.computeIfAbsent(part.schema(), _ -> schemas.size());
            out.putInt(schema).putInt(part.rows().length).putShort((short) names[p].length)
                    .putShort((short) versions[p].length).putLong(part.byteSize());
            for (long rows : part.rows()) {
                out.putLong(rows);
            }
            out.put(names[p]).put(versions[p]);
        }
        out.putInt(CRC_AT, IndexChecksum.of(out.array(), CRC_AT));
        return out.array();
    }
}
