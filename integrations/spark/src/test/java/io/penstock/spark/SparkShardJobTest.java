// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.format_string;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkShardJobTest extends LocalSpark {

    @TempDir
    private Path folder;

    /** Rows with a key, bytes, and a number that every fifth row lacks. */
    private static Dataset<Row> samples(int partitions) {
        return Documents.mixed(spark, partitions).withColumn("key", format_string("%05d", col("id")))
                .withColumn("bytes", functions.unhex(functions.md5(col("text").cast("binary"))))
                .withColumn("label", functions.when(col("id").mod(5).notEqual(0), col("id").mod(10)));
    }

    private SparkShardJob job(Dataset<Row> rows) {
        return new SparkShardJob(rows, "key", folder.resolve("train-%03d.tar").toString()).member("bin", "bytes")
                .member("cls", "label");
    }

    @Test
    void shardsInTheOrderOfTheirKeysHaveEveryRowOnceAndNothingElseIsLeft() throws Exception {
        Dataset<Row> rows = samples(5);
        List<String> shards = job(rows).order(RowOrder.by(3, "key")).run();
        assertEquals(Stream.of("train-000.tar", "train-001.tar", "train-002.tar").map(name ->
                folder.resolve(name).toString()).toList(), shards);
        assertFalse(Files.exists(folder.resolve("train-%03d.tar.parts")));
        List<Row> expected = rows.orderBy("key").collectAsList();
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(folder))) {
            assertEquals(Documents.COUNT, store.size());
            assertEquals(List.of("bin", "cls"), store.columns().stream().map(column -> column.name()).toList());
            for (int i = 0; i < Documents.COUNT; i++) {
                Row row = expected.get(i);
                assertEquals(row.getAs("key"), store.key(i));
                assertArrayEquals(row.<byte[]>getAs("bytes"), member(store, i, 0));
                Object label = row.getAs("label");
                assertEquals(label != null, store.isPresent(i, 1));
                if (label != null) {
                    assertEquals(label.toString(), new String(member(store, i, 1), StandardCharsets.UTF_8));
                }
            }
        }
    }

    private static byte[] member(WebDatasetStore store, int sample, int column) {
        Span span = new Span();
        store.locate(sample, column, span);
        return span.segment().asSlice(span.byteOffset(), span.byteSize()).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shuffledShardsAreTheSameWhateverTheSourcesPartitions() throws Exception {
        List<byte[]> first = bytes(job(samples(2)).order(RowOrder.shuffled(9, 4)).run());
        assertThrows(FileAlreadyExistsException.class, () -> job(samples(7)).order(RowOrder.shuffled(9, 4)).run());
        List<byte[]> again = bytes(job(samples(7)).order(RowOrder.shuffled(9, 4)).ifExists(IfExists.REPLACE).run());
        assertEquals(first.size(), again.size());
        for (int i = 0; i < first.size(); i++) {
            assertArrayEquals(first.get(i), again.get(i));
        }
    }

    private static List<byte[]> bytes(List<String> files) throws IOException {
        List<byte[]> bytes = new ArrayList<>();
        for (String file : files) {
            bytes.add(Files.readAllBytes(Path.of(file)));
        }
        return bytes;
    }

    @Test
    void placesThatShardsCannotHaveAreRefused() {
        for (String pattern : List.of("hdfs:/out/train-%03d.tar", "s3://bucket/train.tar",
                "s3://bucket/a%20b-%d.tar")) {
            assertThrows(IllegalArgumentException.class, () -> new SparkShardJob(samples(1), "key", pattern), pattern);
        }
    }

    @Test
    void aKeyThatIsNullOrThereTwiceIsRefusedAndTheDatasetStays() throws Exception {
        List<String> shards = job(samples(2)).run();
        List<byte[]> before = bytes(shards);
        for (Dataset<Row> bad : List.of(samples(1).withColumn("key", functions.lit("same")),
                samples(1).withColumn("key", functions.lit(null).cast("string")))) {
            Exception refused = assertThrows(Exception.class, () -> job(bad).ifExists(IfExists.REPLACE).run());
            assertTrue(refused.getMessage().contains("key"), refused.getMessage());
        }
        List<byte[]> after = bytes(shards);
        assertArrayEquals(before.getFirst(), after.getFirst());
        assertArrayEquals(before.getLast(), after.getLast());
    }
}
