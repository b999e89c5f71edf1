// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.Tensor;
import io.penstock.store.RecordStore;
import io.penstock.stream.LineSource;
import io.penstock.stream.StreamDataset;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Images and sounds within conversations: their runs of tokens, and the fields that say where and what they are. */
class MediaRunsTest {

    private static final Path TOKENIZER = Path.of("tools/src/test/resources/io/penstock/tokenize/qwen2.tokenizer.json");
    private static final String TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n"
            + "{% if m.content is string %}{{ m.content }}{% else %}"
            + "{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}"
            + "{% else %}PAD{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}";
    private static final String RECORD = """
            {"messages": [
              {"role": "user", "content": [{"type": "image", "image": "0.jpg"}, {"type": "text", "text": "and"},
                {"type": "image_url", "image_url": {"url": "1.png"}, "tokens": 2}, {"type": "text", "text": "?"}]},
              {"role": "assistant", "content": "Two."},
              {"role": "user", "content": [{"type": "text", "text": "Third:"}, {"type": "image"}]},
              {"role": "assistant", "content": [{"type": "text", "text": "Yes."}, {"type": "image", "path": "own"}]}]}
            """;

    @TempDir
    private Path folder;

    /** The small vocabulary has no token for an image; the one for the end of a text stands for it. */
    private static ChatTokenizer chats() throws IOException {
        return ChatTokenizer.of(ChatTemplate.parse(TEMPLATE.replace("PAD", "<|endoftext|>")), Tokenizer.of(TOKENIZER));
    }

    private static Conversation conversation(ChatTokenizer chats) {
        return chats.conversation(Json.object(Json.parse(RECORD)));
    }

    @Test
    void eachPartIsARunThatIsNotTrainedOn() throws IOException {
        ChatTokenizer chats = chats();
        int pad = chats.tokenizer().specialTokens().get("<|endoftext|>");
        ChatTokenizer withRuns = chats.media("image", "<|endoftext|>", 5);
        Conversation conversation = conversation(chats);
        List<Integer> expected = new ArrayList<>();
        List<MediaRun> runs = new ArrayList<>();
        String[] names = {"0.jpg", "1.png", "", "own"};
        int[] counts = {5, 2, 5, 5};
        for (int token : chats.encode(conversation).orElseThrow()) {
            if (token == pad || token == ~pad) {
                int number = runs.size();
                runs.add(new MediaRun("image", names[number], expected.size(), counts[number]));
                for (int i = 0; i < counts[number]; i++) {
                    expected.add(~pad);
                }
            } else {
                expected.add(token);
            }
        }
        assertEquals(4, runs.size());
        assertArrayEquals(expected.stream().mapToInt(Integer::intValue).toArray(),
                withRuns.encode(conversation).orElseThrow());
        assertEquals(runs, withRuns.mediaRuns(conversation));
        int length = expected.size();
        assertTrue(withRuns.maxTokens(length, ChatTokenizer.Truncation.LEFT).encode(conversation).isPresent());
        assertTrue(withRuns.maxTokens(length - 1, ChatTokenizer.Truncation.LEFT).encode(conversation).isEmpty());
        ChatTokenizer shorter = withRuns.maxTokens(length - 1, ChatTokenizer.Truncation.TURNS);
        assertEquals(List.of("", "own"), shorter.mediaRuns(conversation).stream().map(MediaRun::name).toList());
    }

    @Test
    void aTemplateThatWritesMoreOrFewerIsRefused() throws IOException {
        ChatTokenizer chats = chats().media("image", "<|endoftext|>", 5);
        Conversation sound = chats.conversation(Json.object(Json.parse(
                RECORD.replace("\"image_url\",", "\"audio\","))));
        String message = assertThrows(IllegalArgumentException.class, () -> chats.encode(sound)).getMessage();
        assertEquals("found 3 parts of type 'image' and 4 places that the template makes for them, expected as many",
                message);
        for (String record : List.of(RECORD.replace("\"tokens\": 2", "\"tokens\": 0"),
                RECORD.replace("\"tokens\": 2", "\"tokens\": \"2\""), RECORD.replace("0.jpg", "0\\n.jpg"))) {
            assertThrows(IllegalArgumentException.class,
                    () -> chats.encode(chats.conversation(Json.object(Json.parse(record)))), record);
        }
        assertThrows(IllegalArgumentException.class, () -> chats.media("image", "<|im_end|>", 5));
        assertThrows(IllegalArgumentException.class, () -> chats.media("audio", "<|endoftext|>", 5));
        assertThrows(IllegalArgumentException.class, () -> chats.media("smell", "<|im_end|>", 5));
        assertThrows(IllegalArgumentException.class, () -> chats.media("audio", "none", 5));
        assertThrows(IllegalArgumentException.class, () -> chats.media("audio", "<|im_end|>", 0));
    }

    @Test
    void tarsAndStreamsGiveTheRunsAndNamesAsFields() throws Exception {
        ChatTokenizer chats = chats().media("image", "<|endoftext|>", 5);
        List<MediaRun> runs = chats.mediaRuns(conversation(chats));
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("p-%02d.tar"), 16, Long.MAX_VALUE)) {
            for (int i = 0; i < 3; i++) {
                writer.write("sample" + i, Map.of("0.jpg", MemorySegment.ofArray(new byte[] {1}), "json",
                        MemorySegment.ofArray(RECORD.getBytes(StandardCharsets.UTF_8))));
            }
            writer.commit();
        }
        try (RecordStore store = RecordStore.open(folder.resolve("p-00.tar"));
                Conversations samples = Conversations.withMedia(store, chats)) {
            assertEquals(List.of("masked_tokens", "media_spans", "media_names"),
                    samples.fields().stream().map(field -> field.name()).toList());
            try (DataLoader loader = DataLoader.builder(samples).collator(StackAndPad.fields()).batchSize(1).endEpoch(1)
                    .open()) {
                for (int i = 0; i < 3; i++) {
                    check(loader, runs);
                }
            }
        }
        Path lines = Files.writeString(folder.resolve("chats.jsonl"), RECORD.replace("\n", " ") + "\n");
        try (StreamDataset records = StreamDataset.builder(LineSource.of(lines)).field("ids", chats.decoder(), 512)
                .field("spans", chats.mediaSpans(), 8).field("names", chats.mediaNames(), 512).open();
                DataLoader loader = DataLoader.builder(records).collator(StackAndPad.fields()).batchSize(1).open()) {
            check(loader, runs);
        }
    }

    private static void check(DataLoader loader, List<MediaRun> runs) {
        try (Batch batch = loader.next()) {
            Tensor spans = batch.tensor("media_spans").row(0);
            for (int run = 0; run < runs.size(); run++) {
                assertEquals(runs.get(run).first(), spans.row(run).getLong(0));
                assertEquals(runs.get(run).tokens(), spans.row(run).getLong(1));
                assertEquals(0, spans.row(run).getLong(2));
            }
            Tensor names = batch.tensor("media_names").row(0);
            byte[] text = new byte["0.jpg\n1.png\n\nown\n".length()];
            for (int i = 0; i < text.length; i++) {
                text[i] = (byte) names.getLong(i);
            }
            assertEquals("0.jpg\n1.png\n\nown\n", new String(text, StandardCharsets.UTF_8), Arrays.toString(text));
        }
    }
}
