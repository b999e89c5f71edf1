// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
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
}
