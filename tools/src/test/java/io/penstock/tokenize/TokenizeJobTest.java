// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.convert.Conversion;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.IfExists;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which documents a job writes: shards, lengths, a number of tokens. */
class TokenizeJobTest {

    private static final Tokenizer GPT2 = Tokenizer.of("gpt2");

    @TempDir
    private Path folder;
    private Path corpus;

    @BeforeEach
    void makeCorpus() throws IOException {
        corpus = Files.createDirectory(folder.resolve("corpus"));
        Files.copy(Corpora.file("jsonl/docs.jsonl"), corpus.resolve("a.jsonl"));
        Files.copy(Corpora.file("text/corpus.txt"), corpus.resolve("b.txt"));
        Files.copy(Corpora.file("jsonl/docs.jsonl.gz"), corpus.resolve("c.jsonl.gz"));
        Files.writeString(corpus.resolve("d.jsonl"),
                "\uFEFF{\"text\": \"one\"}\n\n{\"text\": \"two\"}\n{\"text\": \"\"}");
        Files.writeString(corpus.resolve("e.txt"), "");
        Files.copy(Corpora.file("jsonl/docs.jsonl"), corpus.resolve("f.jsonl"));
        Files.writeString(corpus.resolve("g.txt"), "");
    }

    private TokenizeJob job(String store, Path... inputs) {
        return new TokenizeJob(GPT2, inputs.length == 0 ? List.of(corpus) : List.of(inputs), folder.resolve(store))
                .appendEndOfText().threads(2);
    }

    private List<List<Integer>> documents(Path store) throws IOException {
        List<List<Integer>> documents = new ArrayList<>();
        try (TokenStore tokens = TokenStore.open(store)) {
            Span span = new Span();
            for (long d = 0; d < tokens.documentCount(); d++) {
                long start = tokens.documentStart(d);
                List<Integer> document = new ArrayList<>();
                for (long t = start; t < tokens.documentStart(d + 1); t++) {
                    tokens.locatePart(t, 1, 0, span);
                    document.add(span.segment().get(LittleEndian.I16, span.byteOffset()) & 0xFFFF);
                }
                documents.add(document);
            }
        }
        return documents;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 17})
    void theShardsInOrderAreTheWholeByteForByte(int count) throws Exception {
        TokenizeSummary whole = job("whole").run();
        List<ManifestPart> parts = new ArrayList<>();
        long documents = 0;
        long textBytes = 0;
        for (int index = count - 1; index >= 0; index--) {
            TokenizeSummary shard = job("out").shard(new CorpusShard(index, count)).run();
            assertEquals(String.format("out-%05d-of-%05d", index, count), shard.store().getFileName().toString());
            parts.add(ManifestPart.read(Location.of(shard.store())));
            documents += shard.documents();
            textBytes += shard.textBytes();
        }
        assertEquals(whole.documents(), documents);
        assertEquals(whole.textBytes(), textBytes);
        Path file = folder.resolve("out.manifest.json");
        Manifest manifest = Manifest.of(parts);
        manifest.write(file, IfExists.FAIL);
        assertEquals("gpt2", manifest.origin().tokenizer());
        assertEquals(GPT2.vocabularySha256(), manifest.origin().vocabularySha256());
        Path merged = folder.resolve("merged");
        try (TokenStore store = TokenStore.open(file)) {
            assertEquals(whole.tokens(), store.tokenCount());
            new Conversion(store, merged, "megatron").run();
        }
        for (String ending : List.of(".bin", ".idx")) {
            assertArrayEquals(Files.readAllBytes(Path.of(whole.store() + ending)),
                    Files.readAllBytes(Path.of(merged + ending)), ending);
        }
    }

    @Test
    void aLineOfAShardIsReportedByItsNumberInTheFile() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            lines.append(i == 80 ? "{\"other\": 1}\n" : "{\"text\": \"line " + i + "\"}\n");
        }
        Path file = Files.writeString(folder.resolve("bad.jsonl"), lines);
        Exception e = assertThrows(MalformedStoreException.class,
                () -> job("out", file).shard(new CorpusShard(1, 2)).run());
        assertTrue(e.getMessage().startsWith(file + ": at line 81: no field 'text'"), e.getMessage());
    }

    @Test
    void partsOfOtherInputOrOptionsAreRefused() throws Exception {
        job("out").shard(new CorpusShard(0, 2)).run();
        ManifestPart first = ManifestPart.read(Location.of(folder.resolve("out-00000-of-00002")));
        job("other").shard(new CorpusShard(1, 2)).documentTokens(1, 100).run();
        ManifestPart other = ManifestPart.read(Location.of(folder.resolve("other-00001-of-00002")));
        assertThrows(IllegalArgumentException.class, () -> Manifest.of(List.of(first, other)));
        Files.writeString(corpus.resolve("h.txt"), "more");
        job("more").shard(new CorpusShard(1, 2)).run();
        ManifestPart more = ManifestPart.read(Location.of(folder.resolve("more-00001-of-00002")));
        Exception e = assertThrows(IllegalArgumentException.class, () -> Manifest.of(List.of(first, more)));
        assertTrue(e.getMessage().startsWith("part more-00001-of-00002: found a job of this input and these options"),
                e.getMessage());
    }

    @Test
    void partsWithAnotherTokenAtTheEndOfDocumentsAreRefused() throws Exception {
        Path model = Path.of("tools/src/test/resources/io/penstock/tokenize/llama3.tokenizer.json");
        List<ManifestPart> parts = new ArrayList<>();
        for (String end : List.of("<|end_of_text|>", "<|eot_id|>")) {
            TokenizeJob job = new TokenizeJob(Tokenizer.of(model, end), List.of(corpus), folder.resolve("out"));
            Path part = job.appendEndOfText().shard(new CorpusShard(parts.size(), 2)).run().store();
            parts.add(ManifestPart.read(Location.of(part)));
        }
        Exception e = assertThrows(IllegalArgumentException.class, () -> Manifest.of(parts));
        assertTrue(e.getMessage().startsWith("part out-00001-of-00002: found a job of this input and these options"),
                e.getMessage());
    }

    @Test
    void shardsAreParsedAndChecked() {
        assertEquals(new CorpusShard(3, 16), CorpusShard.parse("3/16"));
        for (String text : List.of("3", "16/16", "-1/4", "a/b", "1/2/3", "0/0", "0/100001", "")) {
            assertThrows(IllegalArgumentException.class, () -> CorpusShard.parse(text), text);
        }
        for (long total : new long[] {0, 1, 17, 1L << 62}) {
            long end = 0;
            for (int i = 0; i < 13; i++) {
                assertEquals(end, new CorpusShard(i, 13).start(total));
                end = new CorpusShard(i, 13).end(total);
            }
            assertEquals(total, end);
        }
    }

    @Test
    void documentsAreLeftOutByTheirLengthAlsoAcrossChunks() throws Exception {
        // 300 kB of words are several chunks.
        Files.writeString(corpus.resolve("long.txt"), "some words ".repeat(27_000));
        job("all").run();
        TokenizeSummary some = job("some").documentTokens(10, 400).run();
        List<List<Integer>> expected = documents(folder.resolve("all")).stream()
                .filter(document -> document.size() - 1 >= 10 && document.size() - 1 <= 400).toList();
        assertEquals(expected, documents(folder.resolve("some")));
        assertEquals(expected.size(), some.documents());
        assertEquals(documents(folder.resolve("all")).size() - expected.size(), some.filteredDocuments());
        assertEquals(expected.stream().mapToLong(List::size).sum(), some.tokens());
        byte[] text = GPT2.decode(expected.stream().flatMap(document -> document.subList(0, document.size() - 1)
                .stream()).mapToInt(Integer::intValue).toArray());
        assertEquals(text.length, some.textBytes());
        TokenizeSummary none = job("none").documentTokens(1 << 20, Long.MAX_VALUE).run();
        assertEquals(0, none.documents());
        assertEquals(0, none.tokens());
        assertThrows(IllegalArgumentException.class, () -> job("bad").documentTokens(5, 4));
        assertThrows(IllegalArgumentException.class, () -> job("bad").documentTokens(-1, 4));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5})
    void endsBeforeTheFirstDocumentThatExceedsTheTotal(int threads) throws Exception {
        job("all").run();
        List<List<Integer>> all = documents(folder.resolve("all"));
        for (long most : new long[] {1, 1000, 20_000, 1 << 30}) {
            Path store = folder.resolve("most" + most);
            TokenizeSummary some = job("most" + most).threads(threads).maxTotalTokens(most).run();
            List<List<Integer>> expected = new ArrayList<>();
            long tokens = 0;
            for (List<Integer> document : all) {
                if (tokens + document.size() > most) {
                    break;
                }
                expected.add(document);
                tokens += document.size();
            }
            assertEquals(expected, documents(store), "at most " + most);
            assertEquals(tokens, some.tokens());
        }
        assertThrows(IllegalArgumentException.class, () -> job("bad").maxTotalTokens(0));
    }

    /** A line of 3 MB, and a file of many short ones: buffers grow and are used again. */
    @Test
    void longAndShortLinesMayFollowEachOther() throws Exception {
        Random random = new Random(1);
        List<String> texts = new ArrayList<>();
        Path file = folder.resolve("mixed.jsonl.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            for (int i = 0; i < 600; i++) {
                String text = i % 200 == 100 ? "long words\n".repeat(300_000) : GeneratedText.next(random).repeat(50);
                texts.add(text);
                out.write((Json.write(Map.of("text", text)) + "\n").getBytes());
            }
        }
        TokenizeSummary summary = job("out", file).threads(3).run();
        assertEquals(texts.size(), summary.documents());
        int[] longOne = GPT2.encode(texts.get(100));
        try (TokenStore store = TokenStore.open(folder.resolve("out"))) {
            long before = 0;
            for (int i = 0; i < texts.size(); i++) {
                assertEquals(before, store.documentStart(i));
                before += 1 + (i % 200 == 100 ? longOne : GPT2.encode(texts.get(i))).length;
            }
            assertEquals(before, store.tokenCount());
        }
    }

    /** Twice as many documents allocate hardly more: the buffers of the first ones are used again. */
    @Test
    void makesNoGarbageForADocument() throws Exception {
        String line = Json.write(Map.of("id", 7, "text", "a \"document\" of some words, naïve\n".repeat(40))) + "\n";
        Path some = Files.writeString(folder.resolve("some.jsonl"), line.repeat(2_000));
        Path more = Files.writeString(folder.resolve("more.jsonl"), line.repeat(12_000));
        allocatedBy(some);
        long first = allocatedBy(some);
        long second = allocatedBy(more);
        assertTrue(second - first < 16 * 10_000, () -> (second - first) + " bytes for 10000 documents more");
    }

    /** What the thread of a job allocates, without opening and closing the store. */
    private long allocatedBy(Path file) throws IOException, InterruptedException {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Path store = folder.resolve("allocated");
        try (MegatronWriter writer = MegatronWriter.create(store, DType.U16, IfExists.REPLACE);
                CorpusReader reader = new CorpusReader(CorpusListing.of(List.of(file), false).files(),
                        DecodeLimit.DEFAULT)) {
            DocumentWriter documents = new DocumentWriter(writer.part(), DocumentLimits.NONE, 1);
            ParallelEncoder encoder = new ParallelEncoder(reader,
                    () -> new EncodedChunk((BytePairTokenizer) GPT2, DType.U16, "text", GPT2.endOfText(), null),
                    documents, 1,
                    _ -> { });
            long before = threads.getCurrentThreadAllocatedBytes();
            encoder.run();
            return threads.getCurrentThreadAllocatedBytes() - before;
        }
    }
}
