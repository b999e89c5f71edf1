// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The main class, in this process: it makes and ends a session of its own. */
class SparkTokenizeTest {

    @TempDir
    private Path folder;

    @BeforeEach
    void start() {
        session();
    }

    /** The one that the main class takes, and ends. */
    private static SparkSession session() {
        return SparkSession.builder().master("local[1]").config("spark.ui.enabled", false).getOrCreate();
    }

    @Test
    void optionsDoWhatThoseOfTheCommandLineDo() throws Exception {
        SparkSession spark = session();
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
        Path lines = Files.writeString(folder.resolve("all kinds.jsonl"), """
                \uFEFF{"text": "the first, behind a byte order mark"}
                {"other": {"text": "not this one"}, "text": "caf\\u00e9 \\ud83d\\ude80 \\"quoted\\"\\n"}\r
                \t\r

                 {"text": ""}
                {"text": "été, and no line feed behind it", "number": 1e40}""");
        Documents.commandLine(lines, folder.resolve("expected")).appendEndOfText().run();
        SparkTokenize.main(new String[] {"--format", "jsonl", "--append-eot", "-o",
            folder.resolve("tokens").toString(), lines.toString()});
        Path manifest = folder.resolve("tokens.manifest.json");
        assertArrayEquals(Files.readAllBytes(folder.resolve("expected.bin")), Documents.tokens(manifest));
        assertEquals(Documents.documentStarts(folder.resolve("expected.idx")), Documents.documentStarts(manifest));
        assertEquals(5, Documents.documentStarts(manifest).size());
    }

    @Test
    void theEndOfATextIsTheTokenThatIsNamed() throws Exception {
        Path lines = Files.writeString(folder.resolve("lines.jsonl"), "{\"text\": \"water\"}\n{\"text\": \"falls\"}\n");
        Path vocabulary = Path.of("../../tools/src/test/resources/io/penstock/tokenize/qwen2.tokenizer.json");
        new TokenizeJob(Tokenizer.of(vocabulary, "<|im_end|>"), List.of(lines), folder.resolve("expected"))
                .appendEndOfText().run();
        SparkTokenize.main(new String[] {"--format", "jsonl", "--append-eot", "--vocabulary", vocabulary.toString(),
            "--end-of-text", "<|im_end|>", "-o", folder.resolve("tokens").toString(), lines.toString()});
        assertArrayEquals(Files.readAllBytes(folder.resolve("expected.bin")),
                Documents.tokens(folder.resolve("tokens.manifest.json")));
    }
}
