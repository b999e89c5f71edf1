// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Collator;
import io.penstock.collate.PackedLm;
import io.penstock.collate.PadAnswers;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.AnswerLengths;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.error.MalformedStoreException;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.state.LoaderState;
import io.penstock.store.RecordStore;
import io.penstock.store.TokenStore;
import io.penstock.stream.LineSource;
import io.penstock.stream.PackedSource;
import io.penstock.stream.PackedStream;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.StreamDataset;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Conversations and answers online, of tables and of streams: the numbers are those of a store that {@link TokenizeJob}
 * writes of the same records as lines. {@code bench/peers/chat_tables.py} made the files.
 */
class ConversationsTest {

    private static final Path DATA = Path.of("tools/src/test/resources/io/penstock/chat");
    private static final Path TOKENIZER = Path.of("tools/src/test/resources/io/penstock/tokenize/qwen2.tokenizer.json");
    private static final String TEMPLATE = "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}"
            + "<|im_start|>{{ m.role }}\n{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}\n{% endfor %}";

    @TempDir
    private Path folder;

    private static ChatTokenizer chats() throws IOException {
        String template = TEMPLATE.replace("{% generation %}", "{% if m.role == 'assistant' %}{% generation %}")
                .replace("{% endgeneration %}", "{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}");
        return ChatTokenizer.of(ChatTemplate.parse(template), Tokenizer.of(TOKENIZER));
    }

    private static ConversationEncoder encoder(String name) throws IOException {
        return name.equals("chats") ? chats() : AnswerTokenizer.of(chats());
    }

    private Path store(String name, ConversationEncoder encoder) throws IOException, InterruptedException {
        Path out = folder.resolve(name);
        new TokenizeJob(encoder.tokenizer(), List.of(DATA.resolve(name + ".jsonl")), out).lines(encoder).run();
        return out;
    }

    /** The bytes of every field of every batch, in the dataset's own order. */
    private static List<String> batches(Dataset dataset, Collator collator, int batchSize, int workers) {
        return batches(dataset, collator, batchSize, workers, Integer.MAX_VALUE, Optional.empty(), new ArrayList<>());
    }

    private static List<String> batches(Dataset dataset, Collator collator, int batchSize, int workers, int most,
            Optional<LoaderState> from, List<LoaderState> end) {
        List<String> all = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(dataset).collator(collator).batchSize(batchSize).endEpoch(1)
                .workers(workers).open()) {
            from.ifPresent(loader::seek);
            for (int n = 0; n < most && loader.hasNext(); n++) {
                try (Batch batch = loader.next()) {
                    StringBuilder text = new StringBuilder();
                    for (TensorSpec field : batch.fields()) {
                        text.append(field).append(Arrays.hashCode(batch.tensor(field.name()).segment()
                                .toArray(ValueLayout.JAVA_BYTE))).append(' ');
                    }
                    all.add(text.toString());
                }
            }
            end.add(loader.state());
        }
        return all;
    }

    @ParameterizedTest
    @CsvSource({"chats, parquet", "chats, arrow", "pairs, parquet", "pairs, arrow", "ranked, parquet", "ranked, arrow"})
    void columnsOfATableGiveTheNumbersOfAStore(String name, String format) throws Exception {
        ConversationEncoder encoder = encoder(name);
        Path ofTable = folder.resolve("of-table");
        new TokenizeJob(encoder.tokenizer(), List.of(DATA.resolve(name + "." + format)), ofTable).lines(encoder).run();
        assertEquals(-1, Files.mismatch(Path.of(store(name, encoder) + ".bin"), Path.of(ofTable + ".bin")));
        try (TokenStore store = TokenStore.open(folder.resolve(name));
                RecordStore table = RecordStore.open(DATA.resolve(name + "." + format));
                Conversations online = Conversations.of(table, encoder)) {
            Dataset offline = Documents.of(store);
            assertEquals(offline.fields(), online.fields());
            assertEquals(offline.size(), online.size());
            assertEquals(table.size() - offline.size(), online.leftOut());
            assertEquals(batches(offline, StackAndPad.fields(), 1, 0), batches(online, StackAndPad.fields(), 1, 2));
            if (name.equals("chats")) {
                assertEquals(4, online.leftOut());
                try (PackedSequences one = Packing.of(offline, 96).pack();
                        PackedSequences other = Packing.of(online, 96).pack()) {
                    assertEquals(batches(one, PackedLm.of(DType.I64), 2, 0),
                            batches(other, PackedLm.of(DType.I64), 2, 2));
                }
            } else {
                assertEquals(batches(offline, PadAnswers.of(DType.I32, 0, AnswerLengths.of(offline, 8)), 4, 0),
                        batches(online, PadAnswers.of(DType.I32, 0, AnswerLengths.of(online, 8)), 4, 1));
            }
        }
    }

    @Test
    void aStreamGivesThePackedSequencesOfAStoreAndResumes() throws Exception {
        ChatTokenizer encoder = chats();
        LineSource lines = LineSource.of(DATA.resolve("chats.jsonl"));
        TokenDocumentSource source = TokenDocumentSource.of(lines, encoder.tokenizer(), encoder);
        PackedSource sequences = new PackedSource(source, 96, Packing.Method.BEST_FIT, 1000);
        try (TokenStore store = TokenStore.open(store("chats", encoder));
                PackedSequences packed = Packing.of(Documents.of(store), 96).pack();
                PackedStream online = StreamDataset.builder(sequences).openPacked();
                PackedStream again = StreamDataset.builder(sequences).openPacked();
                PackedStream rest = StreamDataset.builder(sequences).openPacked()) {
            assertEquals("masked_tokens", online.fields().getFirst().name());
            List<String> expected = batches(packed, PackedLm.of(DType.I64), 2, 0);
            List<LoaderState> end = new ArrayList<>();
            assertEquals(expected, batches(online, PackedLm.of(DType.I64), 2, 2));
            List<String> parts = new ArrayList<>();
            parts.addAll(batches(again, PackedLm.of(DType.I64), 2, 1, 3, Optional.empty(), end));
            parts.addAll(batches(rest, PackedLm.of(DType.I64), 2, 2, 1000, Optional.of(end.getFirst()), end));
            assertEquals(expected, parts);
        }
    }

    @Test
    void whatIsLeftOutOfAStreamIsCountedAndABadRecordIsNamedOrSkipped() throws IOException {
        ChatTokenizer encoder = chats();
        List<String> lines = new ArrayList<>(Files.readAllLines(DATA.resolve("chats.jsonl")));
        TokenDocumentSource good = TokenDocumentSource.of(LineSource.of(DATA.resolve("chats.jsonl")),
                encoder.tokenizer(), encoder);
        assertEquals(4, readAll(good, 36));
        lines.add(3, "{\"messages\": [{\"role\": \"assistant\", \"content\": \"x\", \"weight\": 0.5}]}");
        lines.add(7, " ");
        TokenDocumentSource bad = TokenDocumentSource.of(LineSource.of(Files.write(folder.resolve("bad.jsonl"), lines)),
                encoder.tokenizer(), encoder);
        String message = assertThrows(IOException.class, () -> readAll(bad, 36)).getMessage();
        assertTrue(message.contains("messages[0]: found weight 0.5, expected 0 or 1"), message);
        assertEquals(5, readAll(bad.skippingBad(), 36));
        assertNotEquals(bad.fingerprint(), bad.skippingBad().fingerprint());
    }

    /** Reads the records of the one partition; returns how many were left out. */
    private static long readAll(TokenDocumentSource source, int records) throws IOException {
        try (PartitionReader reader = source.open(0, ""); RecordBuffer buffer = new RecordBuffer()) {
            while (reader.poll(buffer) == PartitionReader.Found.RECORD) {
                assertTrue(buffer.count() <= records);
            }
            assertEquals(records, buffer.count());
            return reader.lag().skipped();
        }
    }

    @Test
    void workersOfAStreamGiveTheNumbersToo() throws Exception {
        ChatTokenizer encoder = chats();
        Path kept = Files.write(folder.resolve("kept.jsonl"), IntStream.range(0, 40).filter(i -> i % 10 != 9)
                .mapToObj(lines(DATA.resolve("chats.jsonl"))::get).toList());
        LineSource source = LineSource.of(kept);
        try (TokenStore store = TokenStore.open(store("chats", encoder));
                StreamDataset online = StreamDataset.builder(source).field("chat", encoder.decoder(), 512).open()) {
            assertEquals(batches(Documents.of(store), StackAndPad.fields(), 1, 0),
                    batches(online, StackAndPad.fields(), 1, 3));
        }
        try (StreamDataset bad = StreamDataset.builder(LineSource.of(DATA.resolve("chats.jsonl")))
                .field("chat", encoder.decoder(), 512).open()) {
            assertThrows(BatchException.class, () -> batches(bad, StackAndPad.fields(), 1, 0));
        }
    }

    private static List<String> lines(Path file) throws IOException {
        return Files.readAllLines(file);
    }

    @Test
    void aStreamOfAnswersHasTheBatchesOfAStore() throws Exception {
        AnswerTokenizer encoder = AnswerTokenizer.of(chats());
        TokenDocumentSource source = TokenDocumentSource.of(LineSource.of(DATA.resolve("ranked.jsonl")),
                encoder.tokenizer(), encoder);
        try (TokenStore store = TokenStore.open(store("ranked", encoder));
                StreamDataset online = StreamDataset.builder(source).list("answers", DType.I32, 4096).open();
                StreamDataset cut = StreamDataset.builder(source).list("answers", DType.I32, 4096).open()) {
            Dataset offline = Documents.of(store);
            AnswerLengths lengths = AnswerLengths.of(offline, 8);
            assertEquals(batches(offline, PadAnswers.of(DType.I64, 0, lengths), 4, 0),
                    batches(online, PadAnswers.of(DType.I64, 0, lengths.answers(), lengths.longest(), 8), 4, 2));
            BatchException tooMany = assertThrows(BatchException.class,
                    () -> batches(cut, PadAnswers.of(DType.I64, 0, 2, lengths.longest(), 8), 4, 0));
            assertTrue(String.valueOf(tooMany.getCause()).contains("found 3 answers"), tooMany.toString());
            assertThrows(IllegalArgumentException.class,
                    () -> new PackedSource(source, 64, Packing.Method.BEST_FIT, 9));
        }
    }

    @Test
    void aColumnOfTextIsTokenizedAsAFieldOfLinesIs() throws Exception {
        for (String file : List.of("ranked.jsonl", "ranked.parquet", "ranked.arrow")) {
            new TokenizeJob(Tokenizer.of(TOKENIZER), List.of(DATA.resolve(file)), folder.resolve(file))
                    .textField("prompt").run();
        }
        assertEquals(-1, Files.mismatch(folder.resolve("ranked.jsonl.bin"), folder.resolve("ranked.parquet.bin")));
        assertEquals(-1, Files.mismatch(folder.resolve("ranked.jsonl.bin"), folder.resolve("ranked.arrow.bin")));
    }

    @Test
    void fingerprintsNameWhatTheNumbersDependOn() throws IOException {
        try (RecordStore table = RecordStore.open(DATA.resolve("chats.parquet"));
                Conversations one = Conversations.of(table, chats());
                Conversations same = Conversations.of(table, chats());
                Conversations other = Conversations.of(table, chats().turns(ChatTokenizer.Turns.LAST))) {
            assertEquals(one.fingerprint(), same.fingerprint());
            assertNotEquals(one.fingerprint(), other.fingerprint());
            assertEquals("masked_tokens", one.fields().getFirst().name());
            assertNotEquals(RecordFields.of(table).and("messages", chats().decoder()).fingerprint(), one.fingerprint());
        }
    }

    @Test
    void errorsNameTheRecord() throws Exception {
        try (RecordStore table = RecordStore.open(DATA.resolve("pairs.parquet"))) {
            ChatTokenizer wrong = chats().form(ConversationForm.parse("messages:messages=prompt,label=margin"));
            IllegalArgumentException none = assertThrows(IllegalArgumentException.class,
                    () -> Conversations.of(table, wrong));
            assertTrue(none.getMessage().contains("keeps no sample"), none.getMessage());
            ChatTokenizer other = chats().form(ConversationForm.parse("sharegpt:conversations=chosen"));
            String message = assertThrows(BadSampleException.class, () -> Conversations.of(table, other)).getMessage();
            assertTrue(message.contains("record 0") && message.contains("expected a text 'value'"), message);
            TokenizeJob offline = new TokenizeJob(other.tokenizer(), List.of(DATA.resolve("pairs.parquet")),
                    folder.resolve("bad")).lines(other);
            String row = assertThrows(MalformedStoreException.class, offline::run).getMessage();
            assertTrue(row.contains("pairs.parquet: row 0: chosen[0]: found"), row);
            String columns = assertThrows(IllegalArgumentException.class, () -> Conversations.of(table,
                    chats().form(ConversationForm.parse("sharegpt")))).getMessage();
            assertTrue(columns.contains("expected some of"), columns);
        }
    }
}
