// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.struct;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.mds.MdsStore;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkMdsJobTest extends LocalSpark {

    @TempDir
    private Path folder;

    private static Dataset<Row> samples(int partitions) {
        return Documents.mixed(spark, partitions).withColumn("image",
                functions.unhex(functions.md5(col("text").cast("binary"))));
    }

    private SparkMdsJob job(Dataset<Row> rows) {
        return new SparkMdsJob(rows, "id", folder.resolve("out").toString()).encoding("image", "png");
    }

    private static byte[] value(MdsStore store, long sample, int column) {
        Span span = new Span();
        store.locate(sample, column, span);
        return span.segment().asSlice(span.byteOffset(), span.byteSize()).toArray(ValueLayout.JAVA_BYTE);
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void everyRowIsASampleInTheOrderOfItsKeyAndNothingElseIsLeft() throws Exception {
        Dataset<Row> rows = samples(5);
        job(rows.withColumn("id", SparkTokenizeJobTest.failing(1).apply(col("id").cast("string")).cast("long")))
                .order(RowOrder.by(3, "id")).run();
        List<Row> expected = rows.orderBy("id").collectAsList();
        try (MdsStore store = MdsStore.open(Location.of(folder.resolve("out")), null)) {
            assertEquals(List.of("id", "image", "text"), store.columns().stream().map(each -> each.name()).toList());
            assertEquals("png", store.columns().get(1).encoding());
            assertEquals(Documents.COUNT, store.size());
            for (int i = 0; i < Documents.COUNT; i++) {
                assertEquals(i, ByteBuffer.wrap(value(store, i, 0)).order(ByteOrder.LITTLE_ENDIAN).getLong());
                assertArrayEquals(expected.get(i).<byte[]>getAs("image"), value(store, i, 1));
                assertEquals(expected.get(i).getAs("text"), new String(value(store, i, 2), StandardCharsets.UTF_8));
            }
            List<String> faults = new ArrayList<>();
            store.verify(fault -> faults.add(fault.toString()), Progress.NONE);
            assertEquals(List.of(), faults);
        }
        assertEquals(3, shards().size());
    }

    private List<Path> shards() throws IOException {
        try (var files = Files.list(folder.resolve("out/shards"))) {
            return files.sorted().toList();
        }
    }

    @Test
    void shuffledShardsAreTheSameWhateverTheSourcesPartitionsAndTheTasksThatFail() throws Exception {
        Set<List<Integer>> contents = new LinkedHashSet<>();
        for (int partitions : new int[] {1, 4, 7}) {
            Dataset<Row> rows = samples(partitions);
            Dataset<Row> used = partitions == 4
                    ? rows.withColumn("text", SparkTokenizeJobTest.failing(1).apply(col("text"))) : rows;
            job(used).order(RowOrder.shuffled(9, 4)).ifExists(IfExists.REPLACE).run();
            List<Integer> hashes = new ArrayList<>();
            for (Path shard : shards()) {
                hashes.add(ByteBuffer.wrap(Files.readAllBytes(shard)).hashCode());
            }
            contents.add(hashes);
        }
        assertEquals(1, contents.size());
        assertEquals(4, contents.iterator().next().size());
    }

    @Test
    void valuesOfEveryTypeHaveTheBytesOfTheirEncoding() throws Exception {
        Dataset<Row> rows = Documents.inOrder(spark).filter(col("id").equalTo(3)).coalesce(1).select(
                col("id").as("key"), lit(true).as("bool"), lit(-2).cast("tinyint").as("i8"),
                lit(-300).cast("smallint").as("i16"), lit(1.5f).as("f32"), lit(-2.25).as("f64"),
                lit("0.10").cast("decimal(9,2)").as("exact"), lit("2026-01-02").cast("date").as("day"),
                array(lit(7), lit(-8)).as("list"), array(lit(1.5f), lit(2.5f)).as("row"),
                functions.array_repeat(lit(5L), 300).as("long"), array(lit(false), lit(true)).as("flags"),
                struct(col("id").as("a"), lit("é").as("b")).as("nested"), array(lit("x")).as("words"));
        new SparkMdsJob(rows, "key", folder.resolve("out").toString()).encoding("row", "ndarray:float32:2").run();
        try (MdsStore store = MdsStore.open(Location.of(folder.resolve("out")), List.of("key", "bool", "i8", "i16",
                "f32", "f64", "exact", "day", "list", "row", "long", "flags", "nested", "words"))) {
            assertEquals(List.of("", "", "", "", "", "", "str_decimal", "str", "ndarray:int32", "", "ndarray:int64",
                    "ndarray:uint8", "json", "json"),
                    store.columns().stream().map(column -> column.encoding()).toList());
            byte[][] expected = {buffer(8).putLong(3).array(), {1}, {-2}, buffer(2).putShort((short) -300).array(),
                buffer(4).putFloat(1.5f).array(), buffer(8).putDouble(-2.25).array(), "0.10".getBytes(),
                "2026-01-02".getBytes(), buffer(10).put((byte) 4).put((byte) 2).putInt(7).putInt(-8).array(),
                buffer(8).putFloat(1.5f).putFloat(2.5f).array(), null, {4, 2, 0, 1},
                "{\"a\":3,\"b\":\"é\"}".getBytes(StandardCharsets.UTF_8), "[\"x\"]".getBytes()};
            for (int column = 0; column < expected.length; column++) {
                if (expected[column] != null) {
                    assertArrayEquals(expected[column], value(store, 0, column), store.columns().get(column).name());
                }
            }
            byte[] wide = value(store, 0, 10);
            assertEquals(3 + 300 * 8, wide.length);
            assertArrayEquals(new byte[] {5, 44, 1, 5, 0}, Arrays.copyOf(wide, 5));
        }
    }

    @Test
    void whatMdsHasNoFormForIsRefusedAndTheDatasetStays() throws Exception {
        job(samples(2)).run();
        List<Path> before = shards();
        assertThrows(FileAlreadyExistsException.class, () -> job(samples(2)).run());
        Dataset<Row> nulls = samples(1).withColumn("text", lit(null).cast(DataTypes.StringType));
        Exception refused = assertThrows(Exception.class, () -> job(nulls).ifExists(IfExists.REPLACE).run());
        assertTrue(refused.getMessage().contains("row 0 of partition 0, column text: found null"),
                refused.getMessage());
        Dataset<Row> rows = samples(1).withColumn("row", array(lit(1.5f)));
        Exception wrong = assertThrows(Exception.class, () -> job(rows).encoding("row", "ndarray:float32:2")
                .ifExists(IfExists.REPLACE).run());
        assertTrue(wrong.getMessage().contains("column 'row': found 4 bytes, expected 8 as ndarray:float32:2"),
                wrong.getMessage());
        assertEquals("column id of bigint: found encoding int32, expected int64",
                assertThrows(IllegalArgumentException.class, () -> job(rows).encoding("id", "int32")).getMessage());
        assertEquals(before, shards());
    }

    @Test
    void partitionsWithoutRowsAreNoShardsUnlessAllAre() throws Exception {
        job(samples(3).filter(col("id").equalTo(5))).order(RowOrder.by(3, "id")).run();
        assertEquals(1, size());
        assertEquals(1, shards().size());
        job(Documents.inOrder(spark).withColumn("image", col("text").cast("binary")).filter(col("id").lt(0)))
                .ifExists(IfExists.REPLACE).run();
        assertEquals(0, size());
        assertEquals(1, shards().size());
    }

    private long size() throws IOException {
        try (MdsStore store = MdsStore.open(Location.of(folder.resolve("out")), null)) {
            return store.size();
        }
    }
}
