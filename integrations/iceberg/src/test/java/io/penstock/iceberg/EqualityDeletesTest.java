// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.penstock.lake.Answers;
import io.penstock.lake.LakeStore;
import io.penstock.lake.TableSnapshot.Change;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Deletes by equality, as Flink writes them. The rows that stay are those that Iceberg's specification says: a delete
 * concerns the files of older commits, null equals null, and all columns of a delete must be equal. {@code
 * make_files.py} beside the files makes them.
 */
class EqualityDeletesTest {

    private static final Schema SCHEMA = new Schema(Types.NestedField.optional(1, "id", Types.LongType.get()),
            Types.NestedField.optional(2, "k", Types.StringType.get()),
            Types.NestedField.optional(3, "n", Types.IntegerType.get()));

    @TempDir
    private Path folder;

    private Path file(String name) throws IOException {
        Path file = folder.resolve(name + ".parquet");
        if (!Files.exists(file)) {
            try (InputStream in = EqualityDeletesTest.class.getResourceAsStream("equality/" + name + ".parquet")) {
                Files.copy(Objects.requireNonNull(in), file);
            }
        }
        return file;
    }

    private DataFile data(String name, long rows) throws IOException {
        Path file = file(name);
        return DataFiles.builder(PartitionSpec.unpartitioned()).withPath(file.toString()).withFormat(FileFormat.PARQUET)
                .withFileSizeInBytes(Files.size(file)).withRecordCount(rows).build();
    }

    private DeleteFile deletes(String name, long rows, int... ids) throws IOException {
        Path file = file(name);
        return FileMetadata.deleteFileBuilder(PartitionSpec.unpartitioned()).ofEqualityDeletes(ids)
                .withPath(file.toString()).withFormat(FileFormat.PARQUET).withFileSizeInBytes(Files.size(file))
                .withRecordCount(rows).build();
    }

    private static List<Long> ids(LakeStore rows) {
        return Answers.ids(rows).stream().map(id -> (Long) id).toList();
    }

    @Test
    void rowsOfOlderFilesThatEqualADeleteInItsColumnsAreGone() throws IOException {
        try (InMemoryCatalog catalog = new InMemoryCatalog()) {
            catalog.initialize("memory", Map.of());
            catalog.createNamespace(Namespace.of("db"));
            Table table = catalog.createTable(TableIdentifier.of("db", "t"), SCHEMA, PartitionSpec.unpartitioned(),
                    Map.of(TableProperties.FORMAT_VERSION, "2"));
            IcebergTable rows = IcebergTable.of(table);
            table.newAppend().appendFile(data("first", 10)).commit();
            String first = rows.at("").version();
            table.newRowDelta().addDeletes(deletes("keys", 3, 2)).commit();
            try (LakeStore store = rows.open("")) {
                assertEquals(6, store.size());
                assertEquals(List.of(1L, 2L, 5L, 6L, 7L, 9L), ids(store));
                assertArrayEquals(new long[] {4}, store.rowsWhere("id = 7 and k = 'k7'"));
                assertEquals(0, store.rowsWhere("k is null").length);
                assertEquals(Change.CHANGED, store.snapshot().since(rows.at(first)));
                try (LakeStore before = rows.open(first)) {
                    assertEquals(10, before.size());
                    assertNotEquals(before.fingerprint(), store.fingerprint());
                }
            }
            table.newAppend().appendFile(data("second", 3)).commit();
            try (LakeStore store = rows.open("")) {
                assertEquals(List.of(1L, 2L, 5L, 6L, 7L, 9L, 10L, 11L, 12L), ids(store));
            }
            table.newRowDelta().addDeletes(deletes("pairs", 4, 1, 3)).commit();
            try (LakeStore store = rows.open("")) {
                assertEquals(List.of(2L, 5L, 6L, 7L, 10L, 12L), ids(store));
            }
            table.updateSchema().updateColumn("n", Types.LongType.get()).renameColumn("k", "key").commit();
            table.newRowDelta().addDeletes(deletes("wide", 2, 3)).commit();
            try (LakeStore store = rows.open("")) {
                assertEquals(List.of(2L, 5L, 6L, 10L, 12L), ids(store));
                assertArrayEquals(new long[] {3}, store.rowsWhere("key = 'k3'"));
            }
        }
    }
}
