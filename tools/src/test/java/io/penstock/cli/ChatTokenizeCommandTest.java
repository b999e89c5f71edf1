// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PackedLm;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.state.LoaderState;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From lines of JSON to packed batches: {@code tokenize --chat} and {@code chat show}. */
class ChatTokenizeCommandTest {

    private static final Path TOKENIZER = Path.of("tools/src/test/resources/io/penstock/tokenize/qwen2.tokenizer.json");
    private static final int CONVERSATIONS = 300;

    @TempDir
    private Path folder;
    private Path chats;
    private Path model;

    /** A model's folder, and conversations of which every tenth has nothing to train on. */
    @BeforeEach
    void write() throws IOException {
        model = Files.createDirectory(folder.resolve("model"));
        String end = "\"eos_token\": \"<|im_end|>\", ";
        Files.writeString(model.resolve("tokenizer_config.json"), "{" + end + "\"chat_template\": "
                + Json.write("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
                        + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}") + "}");
        Files.copy(TOKENIZER, model.resolve("tokenizer.json"));
        var random = new SplittableRandom(20261126);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < CONVERSATIONS; i++) {
            lines.add(Json.write(Map.of("messages", List.of(
                    Map.of("role", "user", "content", "question " + i + " why".repeat(random.nextInt(10))),
                    Map.of("role", i % 10 == 9 ? "user" : "assistant", "content",
                            "answer" + " because".repeat(random.nextInt(10)))))));
        }
        chats = Files.write(folder.resolve("chats.jsonl"), lines);
    }

    private static CommandRun run(Object... args) {
        return CommandRun.of(args);
    }

    private CommandRun tokenize(Path out, Object... more) {
        Object[] args = new Object[more.length + 7];
        System.arraycopy(new Object[] {"tokenize", "--chat", chats, "--template", model, "-o", out}, 0, args, 0, 7);
        System.arraycopy(more, 0, args, 7, more.length);
        return run(args);
    }

    @Test
    void aStoreOfConversationsGivesPackedBatchesThatResume() throws IOException {
        Path out = folder.resolve("out");
        CommandRun run = tokenize(out, "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(CONVERSATIONS * 9 / 10L, run.json().get("documents"));
        assertEquals(CONVERSATIONS / 10L, run.json().get("left_out"));
        assertEquals("i32", run.json().get("dtype"));
        List<String> whole = new ArrayList<>();
        batches(out, Optional.empty(), Integer.MAX_VALUE, 1, whole);
        List<String> resumed = new ArrayList<>();
        LoaderState state = batches(out, Optional.empty(), 3, 1, resumed);
        batches(out, Optional.of(state), Integer.MAX_VALUE, 2, resumed);
        assertEquals(whole, resumed, "what a loader gives from batch 3 on, with two workers");
        assertTrue(whole.size() > 6, whole.size() + " batches");
        Map<String, Object> inspected = run("inspect", out, "--json").json();
        assertEquals("masked_tokens", inspected.get("content"));
    }

    /** Adds digests of some batches from a state on; returns the state behind them. */
    private static LoaderState batches(Path path, Optional<LoaderState> state, int count, int workers,
            List<String> digests) throws IOException {
        try (TokenStore store = TokenStore.open(path);
                PackedSequences packed = Packing.of(Documents.of(store), 256).pack();
                DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).batchSize(4)
                        .shuffle(7).endEpoch(1).workers(workers).open()) {
            state.ifPresent(loader::seek);
            for (int i = 0; i < count && loader.hasNext(); i++) {
                try (Batch batch = loader.next()) {
                    StringBuilder text = new StringBuilder();
                    for (String name : List.of("input_ids", "labels", "loss_mask", "position_ids", "document_ids")) {
                        Tensor tensor = batch.tensor(name);
                        text.append(Arrays.hashCode(tensor.segment().toArray(ValueLayout.JAVA_BYTE)));
                        text.append(' ');
                    }
                    digests.add(text.toString());
                }
            }
            return loader.state();
        }
    }

    @Test
    void pairsBecomeBatchesWithScoresAndPrefixesAndSurviveAConversion() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            lines.add(Json.write(Map.of("prompt", "question " + i, "chosen", "yes".repeat(1 + i % 4), "rejected",
                    "no")));
        }
        chats = Files.write(folder.resolve("pairs.jsonl"), lines);
        Path out = folder.resolve("pairs");
        assertEquals(2, run("tokenize", "--preferences", chats, "-o", out).exitCode());
        CommandRun run = tokenize(out, "--preferences");
        assertEquals(0, run.exitCode(), run.err());
        Path copy = folder.resolve("copy");
        assertEquals(0, run("convert", out, copy, "--to", "megatron").exitCode());
        assertEquals("answers", run("inspect", copy, "--json").json().get("content"));
        Object[] options = {"--documents", "--tokens-as", "i64", "--token-budget", "512", "--digest"};
        String batches = batches(out, options);
        assertEquals(batches, batches(copy, options));
        assertTrue(batches.contains("labels: i64["), batches);
        assertTrue(batches.contains("prefix_lengths: i32["), batches);
        assertEquals(2, run("batches", out, "--pack", "64", "--batch", "1").exitCode());
        assertEquals(2, run("batches", out, "--window", "64", "--batch", "1").exitCode());
    }

    private String online(Object... options) {
        Object[] args = new Object[options.length + 4];
        System.arraycopy(new Object[] {"batches", "--chat", "--template", model}, 0, args, 0, 4);
        System.arraycopy(options, 0, args, 4, options.length);
        CommandRun run = run(args);
        assertEquals(0, run.exitCode(), run.err());
        return run.out();
    }

    @Test
    void batchesOfASourceAndOfATableAreThoseOfAStore() throws IOException {
        Path out = folder.resolve("out");
        assertEquals(0, tokenize(out).exitCode());
        Object[] packed = {"--pack", 256, "--pack-window", 1000, "--tokens-as", "i64", "--batch", 4, "--digest"};
        assertEquals(batches(out, with(packed, "--no-shuffle")), online(with(packed, "--source", chats)));
        Object[] windows = {"--window", 64, "--tokens-as", "i32", "--batch", 4, "--digest"};
        assertEquals(batches(out, with(windows, "--no-shuffle")), online(with(windows, "--source", chats)));
        Path table = Path.of("tools/src/test/resources/io/penstock/chat/pairs.parquet");
        chats = table.resolveSibling("pairs.jsonl");
        Path pairs = folder.resolve("pairs");
        assertEquals(0, tokenize(pairs, "--preferences").exitCode());
        Object[] padded = {"--documents", "--no-shuffle", "--batch", 4, "--digest"};
        assertEquals(batches(pairs, padded), online(with(padded, "--preferences", table)));
        assertEquals(batches(pairs, padded), online("--documents", "--batch", 4, "--digest", "--preferences",
                "--max-length", 512, "--source", chats));
        Object[] media = {"--media", "image=<|endoftext|>:4", table.resolveSibling("chats.parquet")};
        assertTrue(online(with(media, "--pack", 128, "--batch", 1)).contains("input_ids"));
        assertTrue(online(with(media, "--documents", "--tokens-as", "i64", "--batch", 1)).contains("labels"));
        assertEquals(2, run("batches", "--chat", "--template", model, "--media", "image=none:4", "--pack", 9, table,
                "--batch", 1).exitCode());
        assertEquals(0, run("stream", "--chat", "--template", model, "--source", chats, "--pack", 64, "--batch", 2)
                .exitCode());
    }

    private static Object[] with(Object[] options, Object... more) {
        return Stream.concat(Stream.of(options), Stream.of(more)).toArray();
    }

    @Test
    void onlineOptionsBelongTogether() throws IOException {
        assertTrue(run("batches", "--chat", "--source", chats, "--pack", 64, "--batch", 1).err()
                .contains("expected both --chat and --template"));
        assertTrue(run("batches", "--chat", "--template", model, "--source", chats, "--batch", 1).err()
                .contains("expected one of them, or --window"));
        assertTrue(run("batches", "--chat", "--template", model, "--preferences", "--source", chats, "--pack", 64,
                "--batch", 1).err().contains("--documents, which --preferences needs"));
        Path out = folder.resolve("out");
        assertEquals(0, tokenize(out).exitCode());
        assertTrue(run("batches", "--chat", "--template", model, out, "--pack", 64, "--batch", 1).err()
                .contains("which holds no records"));
    }

    private static String batches(Path store, Object... options) {
        Object[] args = new Object[options.length + 2];
        args[0] = "batches";
        args[1] = store;
        System.arraycopy(options, 0, args, 2, options.length);
        CommandRun run = run(args);
        assertEquals(0, run.exitCode(), run.err());
        return run.out();
    }

    @Test
    void threadsAndShardsChangeNoToken() throws Exception {
        Path one = folder.resolve("one");
        Path several = folder.resolve("several");
        assertEquals(0, tokenize(one, "--threads", 1).exitCode());
        assertEquals(0, tokenize(several, "--threads", 4).exitCode());
        assertEquals(digest(one), digest(several));
        for (int shard = 0; shard < 3; shard++) {
            CommandRun run = tokenize(folder.resolve("part"), "--shard", shard + "/3");
            assertEquals(0, run.exitCode(), run.err());
        }
        Path manifest = folder.resolve("parts");
        CommandRun joined = run("manifest", folder.resolve("part-00000-of-00003.idx"),
                folder.resolve("part-00001-of-00003.idx"), folder.resolve("part-00002-of-00003.idx"), "-o", manifest);
        assertEquals(0, joined.exitCode(), joined.err());
        try (TokenStore parts = TokenStore.open(folder.resolve("parts.manifest.json"));
                TokenStore whole = TokenStore.open(one)) {
            assertEquals(TokenContent.MASKED_TOKENS, parts.content());
            assertEquals(TokenContent.MASKED_TOKENS, whole.content());
            assertEquals(whole.tokenCount(), parts.tokenCount());
            assertEquals(whole.documentCount(), parts.documentCount());
        }
    }

    private static Object digest(Path store) {
        return Json.array(run("inspect", store, "--digest", "--json").json().get("arrays")).toString();
    }

    @Test
    void inspectSaysHowATableHoldsConversationsAndTheCommandRuns() throws IOException {
        for (String[] table : new String[][] {{"messages", "messages"}, {"pairs", "preference"},
            {"ranked", "ranked"}}) {
            Path file = Path.of("tools/src/test/resources/io/penstock/chat/" + table[0] + ".parquet");
            assertTrue(run("inspect", file, "--json").out().contains("\"conversations\": \"" + table[1] + "\""));
            String command = run("inspect", file).out().lines().filter(line -> line.contains("penstock tokenize"))
                    .findFirst().orElseThrow().replaceFirst(".*penstock ", "");
            Path out = folder.resolve("advised-" + table[0]);
            List<Object> args = new ArrayList<>(List.of(command.replace("MODEL", model.toString())
                    .replace("OUT", out.toString()).split(" ")));
            CommandRun made = run(args.toArray());
            assertEquals(0, made.exitCode(), command + ": " + made.err());
            assertEquals(0, run("inspect", out).exitCode());
        }
        assertFalse(run("inspect", Path.of("src/test/resources/fixtures/parquet")).out().contains("conversations"));
    }

    @Test
    void showPrintsWhatIsTrainedOn() throws IOException {
        CommandRun shown = run("chat", "show", chats, "--template", model, "--sample", 1);
        assertEquals(0, shown.exitCode(), shown.err());
        assertTrue(shown.out().contains("<|im_start|>assistant\n[[answer"), shown.out());
        assertTrue(shown.out().contains("<|im_end|>]]\n"), shown.out());
        CommandRun page = run("chat", "show", chats, "--template", model, "--html");
        assertTrue(page.out().contains("<mark>answer"), page.out());
        assertTrue(page.out().contains("&lt;|im_end|&gt;</mark>"), page.out());
        Map<String, Object> json = run("chat", "show", chats, "--template", model, "--json").json();
        assertEquals(json.get("tokens"), (long) Json.array(json.get("ids")).size());
        assertEquals(true, run("chat", "show", chats, "--template", model, "--sample", 9, "--json").json()
                .get("left_out"));
    }

    @Test
    void errorsNameFileAndLineAndOptionsBelongTogether() throws IOException {
        Files.writeString(folder.resolve("bad.jsonl"), "\n{\"messages\": [{\"role\": 1}]}\n");
        CommandRun bad = run("tokenize", "--chat", folder.resolve("bad.jsonl"), "--template", model, "-o",
                folder.resolve("bad"));
        assertEquals(3, bad.exitCode());
        assertTrue(bad.err().contains("bad.jsonl: at line 2: messages[0]: found 1 as role, expected a text"),
                bad.err());
        assertEquals(2, run("tokenize", "--chat", chats, "-o", folder.resolve("x")).exitCode());
        assertEquals(2, run("tokenize", chats, "--template", model, "-o", folder.resolve("x")).exitCode());
        Files.writeString(folder.resolve("a.txt"), "text");
        CommandRun text = run("tokenize", "--chat", folder.resolve("a.txt"), "--template", model, "-o",
                folder.resolve("x"));
        assertEquals(3, text.exitCode());
        assertTrue(text.err().contains("found a text, expected JSON lines"), text.err());
        Files.writeString(folder.resolve("prose.jsonl"), "not a record\n");
        CommandRun prose = run("tokenize", "--chat", folder.resolve("prose.jsonl"), "--template", model, "-o",
                folder.resolve("x"));
        assertTrue(prose.err().contains("prose.jsonl: at line 1: not JSON: at offset 1: found 'o'"), prose.err());
    }

    @Test
    void conversationsWithoutTheOptionAreSentToIt() {
        CommandRun run = run("tokenize", chats, "-o", folder.resolve("x"));
        assertEquals(3, run.exitCode());
        assertTrue(run.err().contains("no field 'text', found ['messages']; for conversations: --chat --template"
                + " TEMPLATE"), run.err());
    }

    @Test
    void wordsOfATemplateThatAreNoSpecialTokensAreNamed() {
        CommandRun run = run("tokenize", "--chat", chats, "--template", "chatml", "-o", folder.resolve("a"));
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("penstock: the vocabulary gpt2 has no special token <|im_start|>, <|im_end|> of the template:"
                + " ordinary text stands for it\n", run.err());
        assertTrue(run.out().contains("; 30 lines were left out: too long, or nothing to train on\n"), run.out());
        CommandRun known = run("tokenize", "--chat", chats, "--template", "chatml", "--vocabulary", TOKENIZER, "-o",
                folder.resolve("b"));
        assertEquals("", known.err());
    }
}
