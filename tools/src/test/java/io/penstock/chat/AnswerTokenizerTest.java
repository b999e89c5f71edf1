// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PadAnswers;
import io.penstock.dataset.AnswerLengths;
import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.RecordFields;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.state.LoaderState;
import io.penstock.store.RecordStore;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several answers of a record: their numbers, offline and online. */
class AnswerTokenizerTest {

    private static final Path TOKENIZER = Path.of("tools/src/test/resources/io/penstock/tokenize/qwen2.tokenizer.json");
    private static final int RECORDS = 40;

    @TempDir
    private Path folder;

    private static ChatTokenizer chats() throws IOException {
        return ChatTokenizer.of(ChatTemplate.named("chatml"), Tokenizer.of(TOKENIZER));
    }

    /** The numbers of answers, made of each conversation's own tokens. */
    private static int[] numbers(ChatTokenizer chats, Map<String, Float> answers) {
        List<int[]> tokens = answers.keySet().stream().map(answer -> chats.encode(new Conversation(List.of(
                Map.of("role", "user", "content", "Why?"), Map.of("role", "assistant", "content", answer)), Map.of()))
                .orElseThrow()).toList();
        List<Integer> numbers = new ArrayList<>(List.of(answers.size()));
        int number = 0;
        for (float score : answers.values()) {
            numbers.add(tokens.get(number++).length);
            numbers.add(Float.floatToRawIntBits(score));
        }
        tokens.forEach(one -> Arrays.stream(one).forEach(numbers::add));
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }

    private static Map<String, Float> scores(Object... answersAndScores) {
        Map<String, Float> scores = new LinkedHashMap<>();
        for (int i = 0; i < answersAndScores.length; i += 2) {
            scores.put((String) answersAndScores[i], (Float) answersAndScores[i + 1]);
        }
        return scores;
    }

    private static int[] encode(ChatTokenizer chats, String json) {
        return AnswerTokenizer.of(chats).encode(Json.object(Json.parse(json))).orElseThrow();
    }

    @Test
    void pairsRankedAndSingleAnswersHaveTheScoresOfTheirRecord() throws IOException {
        ChatTokenizer chats = chats();
        String turns = "[{\"role\":\"user\",\"content\":\"Why?\"},{\"role\":\"assistant\",\"content\":\"%s\"}]";
        for (String pair : List.of("\"prompt\":\"Why?\",\"chosen\":\"Because.\",\"rejected\":\"No\"",
                "\"prompt\":" + turns.formatted("x").replaceAll(",\\{\"role\":\"assistant.*}", "")
                        + ",\"chosen\":\"Because.\",\"rejected\":\"No\"",
                "\"chosen\":" + turns.formatted("Because.") + ",\"rejected\":" + turns.formatted("No"))) {
            assertArrayEquals(numbers(chats, scores("Because.", 1f, "No", 0f)), encode(chats, "{" + pair + "}"), pair);
            assertArrayEquals(numbers(chats, scores("Because.", 0.5f, "No", 0f)),
                    encode(chats, "{\"margin\":0.5," + pair + "}"));
            assertArrayEquals(numbers(chats, scores("Because.", 8f, "No", -2f)),
                    encode(chats, "{\"score_chosen\":8,\"score_rejected\":-2," + pair + "}"));
        }
        String ranked = "{\"prompt\":\"Why?\",\"completions\":[\"A\",\"B\",\"C\"]";
        assertArrayEquals(numbers(chats, scores("A", 2f, "B", 1f, "C", 0f)), encode(chats, ranked + "}"));
        assertArrayEquals(numbers(chats, scores("A", 1f, "B", 7f, "C", 0.25f)),
                encode(chats, ranked + ",\"scores\":[1,7,0.25]}"));
        assertArrayEquals(numbers(chats, scores("A", 1f)),
                encode(chats, "{\"prompt\":\"Why?\",\"completion\":\"A\",\"label\":true}"));
        assertArrayEquals(numbers(chats, scores("A", 0f)),
                encode(chats, "{\"label\":false,\"messages\":" + turns.formatted("A") + "}"));
    }

    @Test
    void onlyTheAnswerIsTrainedOnAndARecordWithoutOneIsLeftOut() throws IOException {
        String earlier = "{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"},";
        String question = "{\"role\":\"user\",\"content\":\"c\"}";
        int[] numbers = encode(chats(), "{\"prompt\":[" + earlier + question
                + "],\"chosen\":\"d\",\"rejected\":\"e\"}");
        int[] chosen = Arrays.copyOfRange(numbers, 5, 5 + numbers[1]);
        Tokenizer tokenizer = Tokenizer.of(TOKENIZER);
        assertEquals("d<|im_end|>", new String(tokenizer.decode(Arrays.stream(chosen).filter(t -> t >= 0).toArray()),
                StandardCharsets.UTF_8));
        AnswerTokenizer answers = AnswerTokenizer.of(chats().maxTokens(20, ChatTokenizer.Truncation.LEAVE_OUT));
        assertEquals(Optional.empty(), answers.encode(Json.object(Json.parse(
                "{\"prompt\":\"Why?\",\"chosen\":\"d\",\"rejected\":\"" + "long ".repeat(30) + "\"}"))));
    }

    @Test
    void whatARecordLacksIsNamed() throws IOException {
        AnswerTokenizer answers = AnswerTokenizer.of(chats());
        for (String json : List.of("{\"prompt\":\"a\",\"completion\":\"b\"}",
                "{\"prompt\":\"a\",\"completion\":\"b\",\"label\":\"good\"}", "{\"prompt\":\"a\",\"completions\":[]}",
                "{\"prompt\":\"a\",\"completions\":[\"b\"],\"scores\":[1,2]}",
                "{\"prompt\":\"a\",\"completions\":[\"b\"],\"scores\":[null]}",
                "{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"c\",\"score_chosen\":1}",
                "{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":3}")) {
            String message = assertThrows(IllegalArgumentException.class,
                    () -> answers.encode(Json.object(Json.parse(json)))).getMessage();
            assertTrue(message.contains("expected"), message);
        }
    }

    private static List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            lines.add(Json.write(Map.of("prompt", "question " + i, "chosen", "yes " + "so ".repeat(i % 7),
                    "rejected", "no " + "not ".repeat(i % 5), "margin", i / 4.0)));
        }
        return lines;
    }

    /** The same numbers, in batches that go on where others ended, whoever made the tokens and when. */
    @Test
    void aStoreAndWorkersGiveTheSameBatchesThatResume() throws Exception {
        Path chats = Files.write(folder.resolve("pairs.jsonl"), lines());
        AnswerTokenizer answers = AnswerTokenizer.of(chats());
        new TokenizeJob(Tokenizer.of(TOKENIZER), List.of(chats), folder.resolve("pairs")).lines(answers).run();
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("p-%02d.tar"), 16, Long.MAX_VALUE)) {
            for (String line : lines()) {
                writer.write("record" + lines().indexOf(line), Map.of("json",
                        MemorySegment.ofArray(line.getBytes(StandardCharsets.UTF_8))));
            }
            writer.commit();
        }
        try (TokenStore offline = TokenStore.open(folder.resolve("pairs"));
                RecordStore online = RecordStore.open(folder.resolve("p-{00..02}.tar"));
                Cached cached = RecordFields.of(online).and("json", answers.decoder()).cache("answers")) {
            assertEquals(TokenContent.ANSWERS, offline.content());
            List<Integer> whole = new ArrayList<>();
            batches(Documents.of(offline), Optional.empty(), Integer.MAX_VALUE, whole);
            assertEquals(10, whole.size());
            for (Dataset dataset : List.of(Documents.of(offline), cached,
                    RecordFields.of(online).and("json", answers.decoder()))) {
                List<Integer> resumed = new ArrayList<>();
                LoaderState state = batches(dataset, Optional.empty(), 3, resumed);
                batches(dataset, Optional.of(state), Integer.MAX_VALUE, resumed);
                assertEquals(whole, resumed, dataset.toString());
            }
        }
    }

    private static LoaderState batches(Dataset dataset, Optional<LoaderState> state, int count, List<Integer> digests) {
        try (DataLoader loader = DataLoader.builder(dataset).collator(PadAnswers.of(DType.I64, 0,
                AnswerLengths.of(dataset, 1))).batchSize(4).shuffle(9).endEpoch(1).workers(2).open()) {
            state.ifPresent(loader::seek);
            for (int i = 0; i < count && loader.hasNext(); i++) {
                try (Batch batch = loader.next()) {
                    digests.add(batch.tensors().values().stream().map(tensor -> Arrays.hashCode(
                            tensor.segment().toArray(ValueLayout.JAVA_BYTE))).toList().hashCode());
                }
            }
            return loader.state();
        }
    }
}
