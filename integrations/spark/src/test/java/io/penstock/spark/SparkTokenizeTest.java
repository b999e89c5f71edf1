// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The main class, in this process: it makes and ends a session of its own. */
class SparkTokenizeTest {

    @TempDir
    private Path folder;

    @Test
    void optionsDoWhatThoseOfTheCommandLineDo() throws Exception {
        SparkSession spark = SparkSession.builder().master("local[1]").config("spark.ui.enabled", false).getOrCreate();
        Path lines = Documents.lines(spark, Documents.inOrder(spark), folder.resolve("in order.jsonl"));
        Path mixed = Documents.lines(spark, Documents.mixed(spark, 2), folder.resolve("mixed.jsonl"));
        Documents.commandLine(lines, folder.resolve("expected")).appendEndOfText().documentTokens(20, 150).run();
        SparkTokenize.main(new String[] {"--format", "json", "--append-eot", "--order-by", "id,text", "--parts", "2",
            "--min-tokens", "20", "--max-tokens", "150", "--job", "one", "-o", folder.resolve("tokens").toString(),
            mixed.toString()});
        Path manifest = folder.resolve("tokens.manifest.json");
        assertArrayEquals(Files.readAllBytes(folder.resolve("expected.bin")), Documents.tokens(manifest));
        assertEquals(2, Documents.digests(manifest).size());
    }

    @Test
    void jsonLinesAreReadAsTheCommandLineReadsThem() throws Exception {
        SparkSession spark = SparkSession.builder().master("local[1]").config("spark.ui.enabled", false).getOrCreate();
        Path lines = folder.resolve("lines.jsonl");
        List<String> written = new ArrayList<>(Files.readAllLines(
                Documents.lines(spark, Documents.inOrder(spark), lines)));
        written.add(3, " \t");
        written.add(7, "{\"text\":\"\",\"meta\":{\"text\":1}}");
        written.add(9, "  {\"text\" : \"caf\\u00e9 \\\"au\\\" lait\"}\r");
        Files.write(lines, written);
        Documents.commandLine(lines, folder.resolve("expected")).run();
        SparkTokenize.main(new String[] {"--format", "jsonl", "-o", folder.resolve("tokens").toString(),
            lines.toString()});
        Path manifest = folder.resolve("tokens.manifest.json");
        assertArrayEquals(Files.readAllBytes(folder.resolve("expected.bin")), Documents.tokens(manifest));
        assertEquals(Documents.documentStarts(folder.resolve("expected")), Documents.documentStarts(manifest));
    }
}
