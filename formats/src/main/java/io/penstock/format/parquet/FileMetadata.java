// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a file's footer says. The file is
 *
 * <pre>
 *   0            PAR1
 *   4            pages, chunk after chunk
 *   size − 8 − n  the footer: n bytes, a FileMetaData in Thrift's compact protocol
 *   size − 8     n, u32
 *   size − 4     PAR1
 * </pre>
 *
 * <p>Source: {@code README.md} and {@code parquet.thrift} of apache/parquet-format.
 */
record FileMetadata(int version, SchemaNode root, long rows, List<RowGroup> groups, String createdBy,
        Map<String, String> properties) {

    static final String MAGIC = "PAR1";
    static final String ENCRYPTED_MAGIC = "PARE";
    static final int MAGIC_BYTES = 4;
    static final int TAIL_BYTES = 8;

    static FileMetadata read(MappedFile file) {
        MemorySegment bytes = file.mapping();
        long size = bytes.byteSize();
        if (size < MAGIC_BYTES + TAIL_BYTES) {
            throw new MalformedStoreException(file.location(), "a file of " + size + " bytes", "at least "
                    + (MAGIC_BYTES + TAIL_BYTES) + ", as Parquet's magics and footer size take");
        }
        checkMagic(file, 0);
        checkMagic(file, size - MAGIC_BYTES);
        file.require(size - TAIL_BYTES, TAIL_BYTES);
        long footerBytes = bytes.get(LittleEndian.I32, size - TAIL_BYTES) & 0xFFFFFFFFL;
        long footerStart = size - TAIL_BYTES - footerBytes;
        if (footerStart < MAGIC_BYTES) {
            throw new MalformedStoreException(file.location(), size - TAIL_BYTES, "a footer of " + footerBytes
                    + " bytes", "at most " + (size - TAIL_BYTES - MAGIC_BYTES));
        }
        file.require(footerStart, footerBytes);
        return read(new ThriftReader(file.location(), bytes, footerStart, size - TAIL_BYTES), footerStart);
    }

    private static void checkMagic(MappedFile file, long at) {
        String magic = new String(file.range(at, MAGIC_BYTES).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.ISO_8859_1);
        if (magic.equals(ENCRYPTED_MAGIC)) {
            throw new MalformedStoreException(file.location(), at, "an encrypted footer (PARE)", "a plain one (PAR1)");
        }
        if (!magic.equals(MAGIC)) {
            throw new MalformedStoreException(file.location(), at, "no magic of Parquet"
                    + (at == 0 ? "" : " at the file's end (is it cut?)"), MAGIC);
        }
    }

    private static FileMetadata read(ThriftReader in, long pagesEnd) {
        int version = -1;
        SchemaNode root = null;
        long rows = -1;
        List<RowGroup> groups = new ArrayList<>();
        Map<String, String> properties = new LinkedHashMap<>();
        String createdBy = "";
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> version = in.i32();
                case 2 -> root = SchemaNode.read(in);
                case 3 -> rows = in.i64();
                case 4 -> {
                    for (int i = in.list(ThriftReader.STRUCT); i > 0; i--) {
                        groups.add(RowGroup.read(in, pagesEnd));
                    }
                }
                case 5 -> {
                    for (int i = in.list(ThriftReader.STRUCT); i > 0; i--) {
                        readProperty(in, properties);
                    }
                }
                case 6 -> createdBy = in.text();
                case 8 -> throw in.malformed("encrypted columns", "plain ones");
                default -> in.skip();
            }
        }
        if (version < 0 || root == null || rows < 0) {
            throw in.malformed("a footer without version, schema or number of rows", "all of them");
        }
        List<SchemaNode> leaves = new ArrayList<>();
        List<List<String>> paths = new ArrayList<>();
        collect(root, List.of(), leaves, paths);
        long sum = 0;
        for (RowGroup group : groups) {
            checkChunks(in, leaves, paths, group);
            sum += group.rows();
        }
        // Early writers of parquet-rs leave the file's count at 0.
        if (sum != rows && rows != 0) {
            throw in.malformed("a file of " + rows + " rows", sum + ", as its row groups have");
        }
        // Before 3.0.0 it compressed the values of all pages of version 2, and said that it did not (ARROW-17100).
        boolean alwaysCompressed = createdBy.startsWith("parquet-cpp version ");
        return new FileMetadata(version, root, sum, alwaysCompressed ? groups.stream().map(RowGroup::alwaysCompressed)
                .toList() : List.copyOf(groups), createdBy, properties);
    }

    /** Checks that every leaf has a chunk, in the order of the schema. */
    private static void checkChunks(ThriftReader in, List<SchemaNode> leaves, List<List<String>> paths,
            RowGroup group) {
        if (group.chunks().size() != leaves.size()) {
            throw in.malformed("a row group of " + group.chunks().size() + " columns", leaves.size()
                    + ", as the schema has");
        }
        for (int i = 0; i < leaves.size(); i++) {
            ColumnChunk chunk = group.chunks().get(i);
            if (!chunk.path().equals(paths.get(i)) || chunk.physical() != leaves.get(i).physical()) {
                throw in.malformed("a column chunk of " + chunk.name() + ", " + chunk.physical(),
                        String.join(".", paths.get(i)) + ", " + leaves.get(i).physical() + ", as in the schema");
            }
        }
    }

    private static void collect(SchemaNode node, List<String> path, List<SchemaNode> leaves, List<List<String>> paths) {
        for (SchemaNode child : node.children()) {
            List<String> below = new ArrayList<>(path);
            below.add(child.name());
            if (child.isLeaf()) {
                leaves.add(child);
                paths.add(below);
            } else {
                collect(child, below, leaves, paths);
            }
        }
    }

    private static void readProperty(ThriftReader in, Map<String, String> properties) {
        String key = null;
        String value = "";
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> key = in.text();
                case 2 -> value = in.text();
                default -> in.skip();
            }
        }
        if (key != null) {
            properties.put(key, value);
        }
    }
}
