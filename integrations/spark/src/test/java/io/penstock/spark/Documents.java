// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.io.Location;
import io.penstock.store.TokenStore;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Documents, and what stores have of them. */
final class Documents {

    static final int COUNT = 400;
    static final TokenizerSource GPT2 = TokenizerSource.published("gpt2");
    private static final StructType SCHEMA = new StructType().add("id", DataTypes.LongType)
            .add("text", DataTypes.StringType);
    private static final String[] WORDS = {"the", " pen", "stock", " water", "\n", " turbine", ", ", " 水", "été", " 42",
        "ZZ", "  ", "don't", " \uD83D\uDE80"};

    private Documents() {
    }

    /** Documents of many lengths; each tenth is the one five before it again. */
    static List<String> texts() {
        SplittableRandom random = new SplittableRandom(7);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            StringBuilder text = new StringBuilder("Document " + i);
            for (int words = random.nextInt(120); words > 0; words--) {
                text.append(WORDS[random.nextInt(WORDS.length)]);
            }
            texts.add(i % 10 == 9 ? texts.get(i - 5) : text.toString());
        }
        return texts;
    }

    static List<Row> rows() {
        List<String> texts = texts();
        return IntStream.range(0, COUNT).mapToObj(i -> RowFactory.create((long) i, texts.get(i))).toList();
    }

    /** The documents in some partitions, in an order that is not that of their ids. */
    static Dataset<Row> mixed(SparkSession spark, int partitions) {
        List<Row> rows = new ArrayList<>(rows());
        rows.sort((a, b) -> Long.compare(a.getLong(0) * 7919 % COUNT, b.getLong(0) * 7919 % COUNT));
        return spark.createDataFrame(rows, SCHEMA).repartition(partitions);
    }

    /** The documents by their ids, in four partitions. */
    static Dataset<Row> inOrder(SparkSession spark) {
        return spark.createDataFrame(JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(rows(), 4),
                SCHEMA);
    }

    /** Writes documents as JSON lines; {@code id} and {@code text}. */
    static Path lines(SparkSession spark, Dataset<Row> rows, Path file) throws IOException {
        return Files.write(file, rows.toJSON().as(Encoders.STRING()).collectAsList());
    }

    /** The store that the command line makes of a file. */
    static TokenizeJob commandLine(Path input, Path output) {
        return new TokenizeJob(Tokenizer.of("gpt2"), List.of(input), output).threads(1);
    }

    /** The tokens of all parts, in order. */
    static byte[] tokens(Path manifest) throws IOException {
        ByteArrayOutputStream tokens = new ByteArrayOutputStream();
        for (ManifestPart part : Manifest.read(Location.of(manifest)).parts()) {
            tokens.write(Files.readAllBytes(manifest.resolveSibling(part.path() + ".bin")));
        }
        return tokens.toByteArray();
    }

    static List<Long> documentStarts(Path store) throws IOException {
        try (TokenStore open = TokenStore.open(store)) {
            return LongStream.rangeClosed(0, open.documentCount()).map(open::documentStart).boxed().toList();
        }
    }

    /** What must be the same of two stores: the digests of the parts. */
    static List<String> digests(Path manifest) throws IOException {
        return Manifest.read(Location.of(manifest)).parts().stream()
                .map(part -> part.tokenSha256() + " " + part.indexSha256()).toList();
    }

    /** What lies beside a manifest's parts, and is not theirs. Hadoop has checksums there that it shows to nobody. */
    static List<String> surplus(Path manifest) throws IOException {
        List<String> parts = Manifest.read(Location.of(manifest)).parts().stream().map(ManifestPart::path).toList();
        Path folder = manifest.resolveSibling(manifest.getFileName().toString().replace(Manifest.ENDING, ".parts"));
        try (var files = Files.list(folder)) {
            return files.map(file -> folder.getFileName() + "/" + file.getFileName())
                    .filter(file -> parts.stream().noneMatch(part -> file.startsWith(part + ".")))
                    .filter(file -> !file.endsWith(".crc")).toList();
        }
    }
}
