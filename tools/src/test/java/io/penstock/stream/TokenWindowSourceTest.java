// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.CausalLm;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.state.LoaderState;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Text that becomes windows of tokens on the way. */
class TokenWindowSourceTest {

    private static final int LENGTH = 17;

    @TempDir
    private Path folder;

    /** Documents of very different lengths, some of them empty. */
    private static List<String> documents() {
        List<String> documents = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            documents.add("The water of day " + i + " falls through a pipe. ".repeat(i * i % 23));
        }
        documents.set(7, "");
        return documents;
    }

    private Path file() throws IOException {
        return Files.write(folder.resolve("feed.jsonl"),
                documents().stream().map(text -> Json.write(Json.members("id", 1L, "text", text))).toList());
    }

    private static List<List<Long>> expected(Tokenizer tokenizer) {
        List<Long> tokens = new ArrayList<>();
        for (String document : documents()) {
            for (int id : tokenizer.encode(document)) {
                tokens.add((long) id);
            }
            tokens.add((long) tokenizer.endOfText());
        }
        List<List<Long>> windows = new ArrayList<>();
        for (int from = 0; from + LENGTH <= tokens.size(); from += LENGTH - 1) {
            windows.add(tokens.subList(from, from + LENGTH));
        }
        return windows;
    }

    private static List<Long> row(Batch batch, int row) {
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < LENGTH - 1; i++) {
            ids.add(batch.tensor("input_ids").getLong((long) row * (LENGTH - 1) + i));
        }
        ids.add(batch.tensor("labels").getLong((row + 1L) * (LENGTH - 1) - 1));
        return ids;
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base"})
    void windowsAreThoseOfTheEncodedDocumentsAndARunResumesInTheMiddleOfOne(String encoding) throws IOException {
        Tokenizer tokenizer = Tokenizer.of(encoding);
        var source = new TokenWindowSource(TokenDocumentSource.of(LineSource.of(file()),
                RecordText.jsonField("text"), tokenizer), LENGTH);
        assertEquals(encoding.equals("gpt2") ? DType.U16 : DType.U32, source.dtype());
        List<List<Long>> windows = new ArrayList<>();
        LoaderState state = null;
        boolean isOver = false;
        while (!isOver) {
            try (StreamDataset stream = StreamDataset.builder(source).field("tokens", source.dtype(), LENGTH).open()) {
                DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(3).workers(1)
                        .collator(CausalLm.widened(DType.I64));
                if (state != null) {
                    builder.resume(LoaderState.fromJson(state.toJson()));
                }
                try (DataLoader loader = builder.open()) {
                    for (int i = 0; i < 2 && loader.hasNext(); i++) {
                        try (Batch batch = loader.next()) {
                            for (int row = 0; row < batch.count(); row++) {
                                windows.add(row(batch, row));
                            }
                        }
                    }
                    isOver = !loader.hasNext();
                    state = loader.state();
                }
            }
        }
        assertEquals(expected(tokenizer), windows);
    }

    @Test
    void aRecordWithoutTextIsNamed() throws IOException {
        Path file = Files.writeString(folder.resolve("bad.jsonl"), "{\"text\": \"good\"}\n{\"txt\": 1}\n");
        var source = new TokenWindowSource(TokenDocumentSource.of(LineSource.of(file), RecordText.jsonField("text"),
                Tokenizer.of("gpt2")), 8);
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            var failed = assertThrows(IOException.class, () -> reader.poll(into));
            assertTrue(failed.getMessage().startsWith("bad.jsonl, record before cursor '28': no field "
                    + "'text', found ['txt']"), failed.getMessage());
        }
        for (String cursor : List.of("x", "7", "9:0")) {
            assertThrows(IOException.class, () -> {
                try (PartitionReader reader = source.open(0, cursor); RecordBuffer into = new RecordBuffer()) {
                    reader.poll(into);
                }
            });
        }
    }

    @Test
    void windowsOfASpoolAreWrittenToDiskOnceAWindowOfTheStreamAndNotOnceADocument() throws IOException {
        StreamSource lines = new SpoolSource(LineSource.once("feed", Files.newInputStream(file())),
                folder.resolve("spool"), 1 << 20);
        var source = new TokenWindowSource(TokenDocumentSource.of(lines, RecordText.jsonField("text"),
                Tokenizer.of("gpt2")), LENGTH);
        Path spooled = folder.resolve("spool/0/00000000000000000000.spool");
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            while (reader.poll(into) == PartitionReader.Found.RECORD) {
                reader.cursor();
                assertEquals(0, Files.size(spooled));
            }
            reader.keep();
            assertTrue(Files.size(spooled) > Files.size(file()), spooled.toString());
        }
    }
}
