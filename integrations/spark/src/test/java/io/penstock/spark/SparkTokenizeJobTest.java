// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.lower;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.manifest.Manifest;
import io.penstock.io.Location;
import io.penstock.store.IfExists;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkTokenizeJobTest extends LocalSpark {

    @TempDir
    private Path folder;

    private SparkTokenizeJob job(Dataset<Row> rows) {
        return new SparkTokenizeJob(rows, "text", Documents.GPT2, folder.resolve("tokens").toString());
    }

    private Path manifest() {
        return folder.resolve("tokens.manifest.json");
    }

    /** The command line's store of rows in their order. */
    private Path expected(Dataset<Row> rows) throws IOException {
        return Documents.lines(spark, rows, folder.resolve("expected.jsonl"));
    }

    private void assertStoreIs(Path expected) throws IOException {
        assertArrayEquals(Files.readAllBytes(folder.resolve(expected.getFileName() + ".bin")),
                Documents.tokens(manifest()));
        assertEquals(Documents.documentStarts(expected), Documents.documentStarts(manifest()));
        assertEquals(List.of(), Documents.surplus(manifest()));
    }

    @Test
    void partitionsOfAFileMakeTheStoreOfTheCommandLine() throws Exception {
        Path lines = expected(Documents.inOrder(spark));
        Documents.commandLine(lines, folder.resolve("expected")).appendEndOfText().run();
        Dataset<Row> read = spark.read().option("lineSep", "\n").schema("text STRING").json(lines.toString());
        spark.conf().set("spark.sql.files.maxPartitionBytes", Files.size(lines) / 5);
        try {
            SparkTokenizeSummary written = job(read).appendEndOfText().run();
            assertTrue(written.manifest().parts().size() > 4);
        } finally {
            spark.conf().unset("spark.sql.files.maxPartitionBytes");
        }
        assertStoreIs(folder.resolve("expected"));
    }

    @Test
    void aLineThatIsNoObjectWithTheFieldFailsTheJobAndIsShown() throws Exception {
        Map<String, String> reasons = Map.of("{\"text\": 7}", "expected a string",
                "{\"other\": \"x\"}", "no field 'text', found ['other']", "[]", "found an array, expected",
                "{\"text\": \"x", "expected");
        for (var reason : reasons.entrySet()) {
            Path lines = Files.write(folder.resolve("bad.jsonl"), List.of("{\"text\": \"good\"}", reason.getKey()));
            SparkTokenizeJob bad = job(JsonLines.read(spark, "text", lines.toString()));
            String message = assertThrows(Exception.class, bad::run).toString();
            assertTrue(message.contains(reason.getValue()), message);
        }
        assertFalse(Files.exists(manifest()));
    }

    @Test
    void aStoreInTheOrderOfAColumnIsThatOfTheCommandLine() throws Exception {
        Documents.commandLine(expected(Documents.inOrder(spark)), folder.resolve("expected"))
                .documentTokens(20, 150).run();
        SparkTokenizeSummary written = job(Documents.mixed(spark, 5)).documentTokens(20, 150)
                .order(RowOrder.by(4, "id")).run();
        assertStoreIs(folder.resolve("expected"));
        assertEquals(4, written.manifest().parts().size());
        assertTrue(written.manifest().parts().stream().allMatch(part -> part.documents() > 0));
        assertEquals(Documents.COUNT, written.manifest().documents() + written.filteredDocuments());
    }

    @Test
    void keysOfAnyTypeAreInSparksOrder() throws Exception {
        Dataset<Row> keyed = Documents.mixed(spark, 3).withColumn("key", functions.when(col("id").mod(7).equalTo(0),
                lit(null)).otherwise(functions.substring(col("text"), -3, 3)))
                .withColumn("number", col("id").mod(5).cast("decimal(9,2)"));
        Documents.commandLine(expected(keyed.orderBy("key", "number", "text")), folder.resolve("expected")).run();
        job(keyed).order(RowOrder.by(6, "key", "number")).run();
        assertStoreIs(folder.resolve("expected"));
    }

    @Test
    void aShuffledStoreIsInTheOrderOfAHashOfSeedAndText() throws Exception {
        Dataset<Row> inOrder = Documents.inOrder(spark).orderBy(
                functions.xxhash64(lit(42L), col("text").cast("binary")), col("text"));
        Documents.commandLine(expected(inOrder), folder.resolve("expected")).run();
        job(Documents.mixed(spark, 3)).order(RowOrder.shuffled(42, 7)).run();
        assertStoreIs(folder.resolve("expected"));
        job(Documents.mixed(spark, 3)).order(RowOrder.shuffled(43, 7)).ifExists(IfExists.REPLACE).run();
        assertEquals(Documents.COUNT, Manifest.read(Location.of(manifest())).documents());
        assertFalse(Arrays.equals(Files.readAllBytes(folder.resolve("expected.bin")),
                Documents.tokens(manifest())));
        assertEquals(List.of(), Documents.surplus(manifest()));
    }

    @Test
    void partsAreTheSameWhateverTheSourcesPartitionsAndTheTasksThatFail() throws Exception {
        Set<List<String>> shuffled = new LinkedHashSet<>();
        Set<List<String>> ordered = new LinkedHashSet<>();
        for (int partitions : new int[] {1, 4, 9}) {
            Dataset<Row> rows = Documents.mixed(spark, partitions);
            Dataset<Row> used = partitions == 4 ? rows.withColumn("text", failing(1).apply(col("text"))) : rows;
            job(used).order(RowOrder.shuffled(1, 3)).ifExists(IfExists.REPLACE).run();
            shuffled.add(Documents.digests(manifest()));
            job(used).order(RowOrder.by(3, "id")).ifExists(IfExists.REPLACE).run();
            ordered.add(Documents.digests(manifest()));
        }
        assertEquals(1, shuffled.size());
        assertEquals(1, ordered.size());
    }

    /** Fails at the sixth text of each task, in so many attempts. */
    static UserDefinedFunction failing(int attempts) {
        int[] seen = {0};
        UDF1<String, String> fails = text -> {
            TaskContext task = TaskContext.get();
            if (task != null && task.attemptNumber() < attempts && ++seen[0] % 6 == 0) {
                throw new IllegalStateException("attempt " + task.attemptNumber());
            }
            return text;
        };
        return functions.udf(fails, DataTypes.StringType).asNondeterministic();
    }

    @Test
    void aTaskThatFailsInTheMiddleOfAPartLeavesNothing() throws Exception {
        Documents.commandLine(expected(Documents.inOrder(spark)), folder.resolve("expected")).run();
        job(Documents.inOrder(spark).coalesce(2).withColumn("text", failing(3).apply(col("text")))).run();
        assertStoreIs(folder.resolve("expected"));
    }

    @Test
    void aJobThatFailsLeavesNoStoreAndNoParts() throws IOException {
        Dataset<Row> rows = Documents.inOrder(spark).coalesce(1);
        assertThrows(Exception.class, () -> job(rows.withColumn("text", failing(4).apply(col("text")))).run());
        assertFalse(Files.exists(manifest()));
        try (var files = Files.list(folder.resolve("tokens.parts"))) {
            assertEquals(0, files.count());
        }
    }

    @Test
    void ofDocumentsThatAreAlikeTheFirstSurvivesOnAnyPartitions() throws Exception {
        Set<Integer> first = new TreeSet<>(IntStream.range(0, Documents.COUNT).boxed()
                .collect(Collectors.toMap(Documents.texts()::get, i -> i, Math::min)).values());
        Documents.commandLine(expected(Documents.inOrder(spark).filter(col("id").isInCollection(first))),
                folder.resolve("expected")).run();
        Dataset<Row> shouted = Documents.mixed(spark, 4).withColumn("text", functions.when(
                col("id").isInCollection(first), col("text")).otherwise(functions.upper(col("text"))));
        job(shouted.withColumn("normalized", lower(col("text")))).dropDuplicates("normalized")
                .order(RowOrder.by(3, "id")).run();
        assertStoreIs(folder.resolve("expected"));
        job(Documents.mixed(spark, 2)).dropDuplicates().order(RowOrder.by(3, "id")).ifExists(IfExists.REPLACE).run();
        assertStoreIs(folder.resolve("expected"));
        SparkTokenizeSummary shuffled = job(Documents.mixed(spark, 2)).dropDuplicates().order(RowOrder.shuffled(5, 2))
                .ifExists(IfExists.REPLACE).run();
        assertEquals(first.size(), shuffled.manifest().documents());
        assertThrows(IllegalArgumentException.class, () -> job(Documents.mixed(spark, 2)).dropDuplicates()
                .ifExists(IfExists.REPLACE).run());
    }

    @Test
    void documentsThatAreTokensAlreadyMakeTheSameStoreAsTheirText() throws Exception {
        Documents.commandLine(expected(Documents.inOrder(spark)), folder.resolve("expected")).appendEndOfText().run();
        Tokenizer gpt2 = Tokenizer.of("gpt2");
        String arrays = Documents.texts().stream().map(text -> "{\"ids\":"
                + Arrays.toString(gpt2.encode(text)) + "}").collect(Collectors.joining("\n"));
        Path file = Files.writeString(folder.resolve("ids.jsonl"), arrays);
        Dataset<Row> rows = spark.read().schema("ids ARRAY<INT>").json(file.toString());
        rows.write().parquet(folder.resolve("ids.parquet").toString());
        new SparkTokenizeJob(spark.read().parquet(folder.resolve("ids.parquet").toString()), "ids", Documents.GPT2,
                folder.resolve("tokens").toString()).appendEndOfText().run();
        assertStoreIs(folder.resolve("expected"));
        Dataset<Row> wrong = spark.createDataset(List.of("[50257]"), Encoders.STRING())
                .select(functions.from_json(col("value"), DataTypes.createArrayType(DataTypes.LongType)).as("ids"));
        Exception refused = assertThrows(Exception.class, () -> new SparkTokenizeJob(wrong, "ids", Documents.GPT2,
                folder.resolve("wrong").toString()).run());
        assertTrue(refused.getMessage().contains("row 0 of partition 0: token 0: found 50257, expected 0 to 50256"),
                refused.getMessage());
    }

    @Test
    void aRowWithoutADocumentIsRefusedAndNamed() {
        Dataset<Row> rows = Documents.inOrder(spark).coalesce(1).withColumn("text",
                functions.when(col("id").notEqual(17), col("text")));
        Exception refused = assertThrows(Exception.class, () -> job(rows).run());
        assertTrue(refused.getMessage().contains("row 17 of partition 0: found null"), refused.getMessage());
    }

    @Test
    void columnsThatCannotBeDocumentsOrKeysAreRefused() {
        Dataset<Row> rows = Documents.inOrder(spark);
        assertEquals("no column 'txt', found [id, text]", assertThrows(IllegalArgumentException.class, () ->
                new SparkTokenizeJob(rows, "txt", Documents.GPT2, folder.resolve("tokens").toString())).getMessage());
        assertEquals("column id: found bigint, expected string, binary, or an array of whole numbers",
                assertThrows(IllegalArgumentException.class, () -> new SparkTokenizeJob(rows, "id", Documents.GPT2,
                        folder.resolve("tokens").toString())).getMessage());
        assertEquals("column key to order by: found double, expected whole numbers, decimals, strings, bytes, dates or"
                + " timestamps", assertThrows(IllegalArgumentException.class, () -> job(rows.withColumn("key",
                        col("id").cast("double"))).order(RowOrder.by(2, "key")).run()).getMessage());
    }

    @Test
    void anExistingStoreStaysUnlessItIsToBeReplaced() throws Exception {
        job(Documents.inOrder(spark)).run();
        List<String> before = Documents.digests(manifest());
        assertThrows(FileAlreadyExistsException.class, () -> job(Documents.inOrder(spark)).appendEndOfText().run());
        assertEquals(before, Documents.digests(manifest()));
        assertEquals(List.of(), Documents.surplus(manifest()));
    }

    @Test
    void aJobThatIsRunAgainTakesOverTheFinishedPartsOfTheSameOptions() throws Exception {
        Documents.commandLine(expected(Documents.inOrder(spark)), folder.resolve("expected")).run();
        // The last document fails when so many parts are finished.
        Path closed = Files.writeString(folder.resolve("closed"), "3");
        String file = closed.toString();
        String parts = folder.resolve("tokens.parts").toString();
        UDF1<Long, Long> fails = id -> {
            if (id == Documents.COUNT - 1 && Files.exists(Path.of(file))) {
                int finished = Integer.parseInt(Files.readString(Path.of(file)));
                Gate.await(() -> Gate.finishedParts(Path.of(parts)) >= finished);
                throw new IllegalStateException("closed");
            }
            return id;
        };
        Dataset<Row> rows = Documents.inOrder(spark).filter(functions.udf(fails, DataTypes.LongType)
                .asNondeterministic().apply(col("id")).geq(0));
        assertThrows(Exception.class, () -> job(rows).resumable("one").run());
        Files.delete(closed);
        SparkTokenizeSummary other = job(rows).resumable("one").appendEndOfText().run();
        assertEquals(0, other.resumedParts());
        Files.delete(manifest());
        Files.writeString(closed, "7");
        assertThrows(Exception.class, () -> job(rows).resumable("one").run());
        Files.delete(closed);
        assertEquals(3, job(rows).resumable("one").run().resumedParts());
        assertStoreIs(folder.resolve("expected"));
    }

    /** Hadoop's own view of the local disk has a scheme of its own. */
    @Test
    void aFileSystemOfHadoopGetsTheSameStore() throws Exception {
        Documents.commandLine(expected(Documents.inOrder(spark)), folder.resolve("expected")).run();
        Configuration hadoop = spark.sparkContext().hadoopConfiguration();
        hadoop.set("fs.viewfs.mounttable.default.link./out", folder.toUri().toString());
        try {
            SparkTokenizeJob job = new SparkTokenizeJob(Documents.inOrder(spark).withColumn("text",
                    failing(1).apply(col("text"))), "text", Documents.GPT2, "viewfs:///out/tokens").resumable("hadoop");
            assertEquals("viewfs:///out/tokens.manifest.json", job.run().store());
            assertStoreIs(folder.resolve("expected"));
            assertThrows(FileAlreadyExistsException.class, job::run);
            Files.delete(manifest());
            Files.delete(folder.resolve(".tokens.manifest.json.crc"));
            assertEquals(4, job.run().resumedParts());
            assertEquals(4, job.ifExists(IfExists.REPLACE).run().resumedParts());
            assertStoreIs(folder.resolve("expected"));
        } finally {
            hadoop.unset("fs.viewfs.mounttable.default.link./out");
        }
    }

    @Test
    void aVocabularyOfAFileIsSentToTheTasks() throws Exception {
        Path ranks = folder.resolve("gpt2.tiktoken");
        try (var in = Tokenizer.class.getClassLoader().getResourceAsStream("com/knuddels/jtokkit/r50k_base.tiktoken")) {
            Files.write(ranks, in.readAllBytes());
        }
        TokenizerSource source = TokenizerSource.published("gpt2", ranks);
        Files.delete(ranks);
        Documents.commandLine(expected(Documents.inOrder(spark)), folder.resolve("expected")).run();
        new SparkTokenizeJob(Documents.inOrder(spark), "text", source, folder.resolve("tokens").toString()).run();
        assertStoreIs(folder.resolve("expected"));
        assertEquals("gpt2", Manifest.read(Location.of(manifest())).origin().tokenizer());
    }
}
