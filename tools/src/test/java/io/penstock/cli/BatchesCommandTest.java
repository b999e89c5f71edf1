// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import io.penstock.store.Fixtures;
import io.penstock.testing.Corpora;
import io.penstock.testing.Digests;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BatchesCommandTest {

    private static final int TOKENS = 20_011;
    private static final int WINDOW = 64;
    private static final int BATCH = 7;
    private static final int SAMPLES = (TOKENS - WINDOW - 1) / WINDOW + 1;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"0, 1, mmap", "1, 1, pread", "2, 3, auto", "4, 9, pread", "3, 1, mmap"})
    void digestsAreThoseOfTheFilesBytesForAnyWorkersAndReadMode(int workers, int prefetch, String read)
            throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 1);
        byte[] file = Files.readAllBytes(store);
        Order order = Sampler.shuffled(SAMPLES, 9).epoch(3);
        List<Map<String, Object>> batches = batches(store, "--window", WINDOW, "--batch", BATCH, "--seed", 9,
                "--epoch", 3, "--workers", workers, "--prefetch", prefetch, "--read", read, "--digest");
        assertEquals(Math.ceilDiv(SAMPLES, BATCH), batches.size());
        long position = 0;
        for (int n = 0; n < batches.size(); n++) {
            int count = Math.min(BATCH, SAMPLES - n * BATCH);
            MessageDigest sha256 = Digests.sha256();
            List<Long> samples = new ArrayList<>();
            for (int row = 0; row < count; row++) {
                long sample = order.at(position++);
                samples.add(sample);
                sha256.update(file, Math.toIntExact(2 * WINDOW * sample), 2 * (WINDOW + 1));
            }
            assertEquals(Map.of("batch", (long) n, "epoch", 3L, "samples", samples, "count", (long) count,
                    "valid", (long) count, "fields", List.of(Map.of("name", "tokens", "dtype", "u16",
                            "shape", List.of((long) count, WINDOW + 1L),
                            "sha256", HexFormat.of().formatHex(sha256.digest())))), batches.get(n));
        }
        assertEquals(SAMPLES, position);
    }

    @Test
    void rowsWithoutBytesAreRefusedByWhatTheyAre() throws IOException {
        String header = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0), }";
        Path file = folder.resolve("zero.npy");
        Files.writeString(file, "\u0093NUMPY\1\0" + (char) (header.length() + 1) + "\0" + header + "\n",
                StandardCharsets.ISO_8859_1);
        CommandRun run = CommandRun.of("batches", file);
        assertEquals(3, run.exitCode());
        assertEquals("penstock: " + file + ": found a tensor f32[5,0], whose rows have no bytes, expected rows of at"
                + " least one byte\n", run.err());
    }

    @Test
    void widenedBatchesHoldInputsAndTheirSuccessors() throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 2);
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(store)).order(ByteOrder.LITTLE_ENDIAN);
        Map<String, Object> batch = batches(store, "--window", 10, "--stride", 3, "--batch", 2, "--no-shuffle",
                "--skip", 5, "--limit", 1, "--tokens-as", "i64", "--digest").getFirst();
        assertEquals(List.of(10L, 11L), batch.get("samples"));
        List<Object> fields = Json.array(batch.get("fields"));
        for (int shift = 0; shift < 2; shift++) {
            ByteBuffer expected = ByteBuffer.allocate(2 * 10 * 8).order(ByteOrder.LITTLE_ENDIAN);
            for (int sample = 10; sample < 12; sample++) {
                for (int t = 0; t < 10; t++) {
                    expected.putLong(file.getShort(2 * (3 * sample + t + shift)) & 0xFFFF);
                }
            }
            assertEquals(Map.of("name", shift == 0 ? "input_ids" : "labels", "dtype", "i64",
                    "shape", List.of(2L, 10L), "sha256",
                    HexFormat.of().formatHex(Digests.sha256().digest(expected.array()))), fields.get(shift));
        }
    }

    @ParameterizedTest
    @CsvSource({"exact, 1", "pad, 1", "drop, 1", "exact, 3", "pad, 4", "drop, 5"})
    void ranksPartitionTheEpoch(String tail, int world) throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 3);
        List<Long> given = new ArrayList<>();
        Set<Integer> steps = new HashSet<>();
        for (int rank = 0; rank < world; rank++) {
            List<Map<String, Object>> batches = batches(store, "--window", WINDOW, "--batch", BATCH,
                    "--rank", rank, "--world", world, "--tail", tail);
            steps.add(batches.size());
            for (Map<String, Object> batch : batches) {
                int valid = Math.toIntExact((Long) batch.get("valid"));
                Json.array(batch.get("samples")).stream().limit(valid).forEach(sample -> given.add((Long) sample));
            }
        }
        assertEquals(1, steps.size(), "ranks step equally often");
        int expected = switch (tail) {
            case "exact" -> SAMPLES;
            case "pad" -> Math.ceilDiv(SAMPLES, world) * world;
            default -> SAMPLES / world * world;
        };
        assertEquals(expected, given.size());
        assertEquals(Math.min(expected, SAMPLES), new HashSet<>(given).size(), "no sample twice but to pad");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 20, 44, 45, 46, 95})
    void skippingIsDroppingLines(long skip) throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 4);
        Object[] plan = {"--window", WINDOW, "--batch", BATCH, "--epoch", 1, "--digest"};
        List<Map<String, Object>> all = batches(store, with(plan, "--limit", 100));
        List<Map<String, Object>> rest = batches(store, with(plan, "--skip", skip, "--limit", 100 - skip));
        assertEquals(all.subList((int) skip, 100), rest);
    }

    @Test
    void endsWithTheEpochThatItBeginsIn() throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 5);
        int epoch = Math.ceilDiv(SAMPLES, BATCH);
        assertEquals(epoch - 40, batches(store, "--window", WINDOW, "--batch", BATCH, "--skip", 40).size());
        assertEquals(1, batches(store, "--window", WINDOW, "--batch", BATCH, "--skip", 2 * epoch - 1).size());
        assertEquals(SAMPLES / BATCH,
                batches(store, "--window", WINDOW, "--batch", BATCH, "--drop-last").size());
        assertEquals(0, batches(store, "--window", WINDOW, "--limit", 0).size());
    }

    @Test
    void theDefaultSeedIsTheOneInTheHelp() throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 6);
        assertTrue(CommandRun.of("batches", "--help").out().contains("default: 42."));
        assertEquals(batches(store, "--window", WINDOW, "--seed", 42), batches(store, "--window", WINDOW));
    }

    @Test
    void documentsAreNotCrossedOnDemand() {
        Path store = Fixtures.path("megatron/u16_docs.idx");
        CommandRun across = CommandRun.of("batches", store, "--window", 16, "--batch", 1, "--json");
        CommandRun within = CommandRun.of("batches", store, "--window", 16, "--batch", 1, "--json",
                "--within-documents");
        assertEquals(0, within.exitCode(), within.err());
        assertTrue(within.out().lines().count() < across.out().lines().count());
    }

    @Test
    void everyStoreThatOpensCanBeLookedAt() throws Exception {
        int tensors = 0;
        for (Fixtures.Entry entry : Fixtures.entries(Fixtures.TOKENS_AND_NPY).toList()) {
            boolean npy = entry.kind().equals("npy");
            Object[] args = npy ? new Object[] {"batches", entry.path(), "--batch", 2, "--json", "--digest"}
                    : new Object[] {"batches", entry.path(), "--window", 1, "--batch", 2, "--limit", 3, "--json"};
            CommandRun run = CommandRun.of(args);
            if (!entry.expect().equals("read")) {
                assertEquals(3, run.exitCode(), () -> entry + ": " + run.err());
                continue;
            }
            List<Object> shape = npy ? Json.array(entry.arrays().getFirst().get("shape")) : List.of();
            boolean rows = !npy || !shape.isEmpty() && !shape.contains(0L);
            boolean tooShort = run.err().contains("too many for");
            assertEquals(!rows ? 3 : tooShort ? 2 : 0, run.exitCode(), () -> entry + ": " + run.err());
            if (npy && rows) {
                tensors++;
                assertEquals(Math.ceilDiv((Long) shape.getFirst(), 2L), run.out().lines().count());
            }
        }
        assertTrue(tensors > 20, "only " + tensors + " tensors");
    }

    @Test
    void aTensorsRowsInOrderAreTheArray() throws Exception {
        int checked = 0;
        for (Fixtures.Entry entry : Fixtures.entries(Fixtures.TOKENS_AND_NPY).toList()) {
            if (!entry.kind().equals("npy") || !entry.expect().equals("read")) {
                continue;
            }
            Map<String, Object> array = entry.arrays().getFirst();
            List<Object> shape = Json.array(array.get("shape"));
            if (shape.isEmpty() || shape.contains(0L)) {
                continue;
            }
            CommandRun run = CommandRun.of("batches", entry.path(), "--no-shuffle", "--batch", shape.getFirst(),
                    "--digest", "--json");
            Map<String, Object> field = Json.object(Json.array(run.json().get("fields")).getFirst());
            assertEquals(array.get("sha256"), field.get("sha256"), entry::toString);
            assertEquals(shape, field.get("shape"), entry::toString);
            checked++;
        }
        assertTrue(checked > 20, "only " + checked + " tensors");
    }

    @Test
    void textIsOneLineABatch() throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 7);
        CommandRun run = CommandRun.of("batches", store, "--window", WINDOW, "--batch", 8, "--no-shuffle", "--limit", 2,
                "--digest");
        assertEquals(0, run.exitCode(), run.err());
        List<String> lines = run.out().lines().toList();
        assertEquals(2, lines.size());
        assertTrue(lines.get(1).startsWith(
                "batch 1, epoch 0: 8 samples [8 9 10 11 12 13 …]  tokens: u16[8,65] sha256 "), lines.get(1));
    }

    @Test
    void stopsWhenNobodyReadsOn() throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 8);
        List<String> written = new ArrayList<>();
        PrintWriter pipe = new PrintWriter(new Writer() {
            @Override
            public void write(char[] chars, int from, int count) throws IOException {
                written.add(new String(chars, from, count));
                throw new IOException("broken pipe");
            }

            @Override
            public void flush() {
            }

            @Override
            public void close() {
            }
        });
        assertEquals(1, Penstock.commandLine("batches").setOut(pipe)
                .execute("batches", store.toString(), "--window", "64",
                "--limit", "1000000000"));
        assertEquals(1, written.size(), written::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mmap", "pread"})
    void aFileThatShrinksMeanwhileIsBadInput(String read) throws IOException {
        Path store = Corpora.rawU16(folder, 500_000, 10);
        StringWriter out = new StringWriter() {
            @Override
            public void write(String text, int from, int count) {
                if (getBuffer().isEmpty()) {
                    truncate(store);
                }
                super.write(text, from, count);
            }
        };
        StringWriter err = new StringWriter();
        assertEquals(3, Penstock.commandLine("batches").setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err)).execute(
                "batches", store.toString(), "--window", "64", "--batch", "4", "--read", read));
        assertTrue(err.toString().matches("penstock: batch \\d+ of epoch 0, sample \\d+: "
                + Pattern.quote(store + ": the file shrank while it was open: 1000 bytes, expected 1000000") + "\\R"),
                err.toString());
        assertTrue(out.toString().startsWith("batch 0, epoch 0: "), "what came before is printed");
    }

    private static void truncate(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(1000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--window 0", "--window x", "--window 30000", "--window 8 --stride 0",
        "--window 8 --batch 0", "--window 8 --seed 1 --no-shuffle", "--window 8 --rank 2 --world 2",
        "--window 8 --tail half", "--window 8 --skip -1", "--window 8 --limit -1", "--window 8 --epoch -1",
        "--window 8 --workers -1", "--window 8 --prefetch 0", "--window 8 --read fast", "--window 8 --tokens-as f32",
        "--window 8 --tokens-as i16", "--window 8 --batch 100000 --drop-last"})
    void whatDoesNotFitTheStoreIsWrongUsage(String options) throws IOException {
        Path store = Corpora.rawU16(folder, TOKENS, 9);
        Object[] args = options.isEmpty() ? new Object[0] : options.split(" ");
        CommandRun run = CommandRun.of(with(new Object[] {"batches", store}, args));
        assertEquals(2, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertEquals("", run.out());
        assertFalse(run.err().contains("internal error"));
    }

    @Test
    void aTensorStoreTakesNoWindow() {
        CommandRun run = CommandRun.of("batches", Fixtures.path("npy/le_i4_3d_F.npy"), "--window", 8);
        assertEquals(2, run.exitCode(), run.err());
    }

    private static List<Map<String, Object>> batches(Path store, Object... options) {
        CommandRun run = CommandRun.of(with(new Object[] {"batches", store, "--json"}, options));
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("", run.err());
        return run.out().lines().map(line -> Json.object(Json.parse(line))).toList();
    }

    private static Object[] with(Object[] first, Object... more) {
        Object[] all = Arrays.copyOf(first, first.length + more.length);
        System.arraycopy(more, 0, all, first.length, more.length);
        return all;
    }

    @Test
    void severalStoresArePackedByNoneAndThatIsSaidInWords() throws Exception {
        Path one = Corpora.rawU16(folder, 400, 5);
        CommandRun run = CommandRun.of("batches", one, one, "--format=nanogpt", "--pack", 64);
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode());
        assertTrue(run.err().startsWith("penstock: --pack: found 2 stores, expected one"), run.err());
    }

    @Test
    void epochsWithoutBatchesArePassedOverAndARunOfNoneIsRefused() throws Exception {
        Path store = Fixtures.path("parquet/tokens_none.parquet");
        CommandRun none = CommandRun.of("batches", store, "--fields", "input_ids", "--token-budget", 1_000_000,
                "--drop-last");
        assertEquals(ExitCode.WRONG_USAGE, none.exitCode(), none.out());
        assertTrue(none.err().startsWith("penstock: no batch in epochs 0 to 63"), none.err());
        CommandRun late = CommandRun.of("batches", store, "--fields", "doc_id", "--epoch", 1L << 62);
        assertEquals(ExitCode.WRONG_USAGE, late.exitCode(), late.out());
        assertTrue(late.err().contains("epoch 4611686018427387904, expected 0 to 4611686018427387903"), late.err());
        CommandRun last = CommandRun.of("batches", store, "--fields", "doc_id", "--epoch", (1L << 62) - 1, "--batch",
                90);
        assertEquals(ExitCode.SUCCESS, last.exitCode(), last.err());
        assertEquals(1, last.out().lines().count());
    }
}
