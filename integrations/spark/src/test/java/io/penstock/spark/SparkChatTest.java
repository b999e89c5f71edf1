// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.chat.AnswerTokenizer;
import io.penstock.chat.ChatTemplate;
import io.penstock.chat.ChatTokenizer;
import io.penstock.chat.ConversationEncoder;
import io.penstock.store.IfExists;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conversations in lines and in tables: the stores are those of {@code penstock tokenize --chat}. */
class SparkChatTest extends LocalSpark {

    private static final Path RESOURCES = Path.of("../../tools/src/test/resources/io/penstock");
    private static final Path CHATS = RESOURCES.resolve("chat");
    private static final Path TOKENIZER = RESOURCES.resolve("tokenize/qwen2.tokenizer.json");

    @TempDir
    private Path folder;
    private Path model;

    @BeforeEach
    void write() throws IOException {
        model = Files.createDirectory(folder.resolve("model"));
        Files.writeString(model.resolve("tokenizer_config.json"), "{\"eos_token\": \"<|im_end|>\", \"chat_template\":"
                + " \"{% for m in messages %}<|im_start|>{{ m.role }}\\n{{ m.content }}{{ eos_token }}\\n{% endfor %}"
                + "{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}\"}");
        Files.copy(TOKENIZER, model.resolve("tokenizer.json"));
    }

    private ChatTokenizer chats() throws IOException {
        return ChatTokenizer.of(ChatTemplate.of(model), Tokenizer.of(model.resolve("tokenizer.json")));
    }

    private Path expected(String name, ConversationEncoder encoder) throws Exception {
        Path out = folder.resolve("expected");
        new TokenizeJob(encoder.tokenizer(), List.of(CHATS.resolve(name + ".jsonl")), out).lines(encoder).threads(1)
                .run();
        return out;
    }

    private void assertStoreIs(Path expected, TokenContent content) throws IOException {
        Path manifest = folder.resolve("tokens.manifest.json");
        assertArrayEquals(Files.readAllBytes(expected.resolveSibling(expected.getFileName() + ".bin")),
                Documents.tokens(manifest));
        assertEquals(Documents.documentStarts(expected), Documents.documentStarts(manifest));
        try (TokenStore store = TokenStore.open(manifest)) {
            assertEquals(content, store.content());
        }
    }

    private SparkTokenizeJob job(Dataset<Row> rows, ChatSource source) throws IOException {
        return new SparkTokenizeJob(rows, "record", TokenizerSource.of(model.resolve("tokenizer.json")),
                folder.resolve("tokens").toString()).conversations(source);
    }

    @Test
    void linesAndColumnsMakeTheStoreOfTheCommandLine() throws Exception {
        Path expected = expected("chats", chats());
        SparkTokenizeSummary lines = job(JsonLines.records(spark, "record", CHATS.resolve("chats.jsonl").toString()),
                ChatSource.of(model, chat -> chat)).run();
        assertEquals(4, lines.filteredDocuments(), "left out");
        assertStoreIs(expected, TokenContent.MASKED_TOKENS);
        Dataset<Row> table = spark.read().parquet(CHATS.resolve("chats.parquet").toString()).repartition(3)
                .withColumn("record", functions.to_json(functions.struct(functions.col("*"))));
        job(table, ChatSource.of(model, chat -> chat)).order(RowOrder.by(2, "id"))
                .ifExists(IfExists.REPLACE).run();
        assertStoreIs(expected, TokenContent.MASKED_TOKENS);
    }

    @Test
    void aShuffleMovesNumbersAndLosesNone() throws Exception {
        Path expected = expected("chats", chats());
        job(JsonLines.records(spark, "record", CHATS.resolve("chats.jsonl").toString()),
                ChatSource.of(model, chat -> chat)).order(RowOrder.shuffled(7, 3)).run();
        byte[] one = Files.readAllBytes(expected.resolveSibling("expected.bin"));
        byte[] other = Documents.tokens(folder.resolve("tokens.manifest.json"));
        Arrays.sort(one);
        Arrays.sort(other);
        assertArrayEquals(one, other);
    }

    @Test
    void theCommandMakesAnswersOfColumns() throws Exception {
        Path expected = expected("pairs", AnswerTokenizer.of(chats()));
        ChatSource source = ChatSource.of(model, AnswerTokenizer::of);
        Dataset<Row> pairs = spark.read().parquet(CHATS.resolve("pairs.parquet").toString())
                .withColumn("record", functions.to_json(functions.struct(functions.col("*"))));
        job(pairs, source).run();
        assertStoreIs(expected, TokenContent.ANSWERS);
        assertThrows(IllegalArgumentException.class, () -> job(pairs, source).appendEndOfText().run());
        Files.delete(folder.resolve("tokens.manifest.json"));
        spark.stop();
        try {
            SparkSession.builder().master("local[1]").config("spark.ui.enabled", false).getOrCreate();
            SparkTokenize.main(new String[] {"--chat", model.toString(), "--preferences", "--force", "-o",
                folder.resolve("tokens").toString(), CHATS.resolve("pairs.parquet").toString()});
        } finally {
            start();
        }
        assertStoreIs(expected, TokenContent.ANSWERS);
    }
}
