// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.OptionSpec;

class PenstockTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "no-such-command", "tokenize", "tokenize a.txt", "tokenize -o out",
        "tokenize a -o b --encoding gpt5", "tokenize a -o b --threads 0", "tokenize a -o b --threads x", "inspect",
        "inspect a --no-such-option", "batches", "stream", "quickstart extra",
        "inspect a --format gif", "inspect a --dtype u16", "devices extra"})
    void wrongUsageEndsWithTwoAndOneLine(String line) {
        CommandRun run = CommandRun.of((Object[]) (line.isEmpty() ? new String[0] : line.split(" ")));
        assertEquals(2, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.err().startsWith("penstock: ") && run.err().contains(" --help')"), run.err());
        assertEquals("", run.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "tokenize --help", "inspect --help", "devices --help", "batches --help",
        "stream --help", "quickstart --help", "help", "help stream"})
    void helpIsPrintedAsTheResult(String line) {
        CommandRun run = CommandRun.of((Object[]) line.split(" "));
        assertEquals(0, run.exitCode());
        assertTrue(run.out().startsWith("Usage: penstock "), run.out());
        assertEquals("", run.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"batches", "stream", "stats", "tune"})
    void helpListsEveryOptionOnceUnderAHeading(String command) {
        String help = CommandRun.of(command, "--help").out();
        for (OptionSpec option : Penstock.commandLine(command).getSubcommands().get(command).getCommandSpec()
                .options()) {
            Pattern line = Pattern.compile("^ {2,6}(-[-\\w]+, +)?" + option.longestName() + "([ =].*)?$",
                    Pattern.MULTILINE);
            assertEquals(1, line.matcher(help).results().count(), option.longestName());
        }
        assertTrue(help.indexOf("Input:") < help.indexOf("--format"), help);
        assertEquals(List.of("--help", "--stacktrace"), help.substring(help.indexOf("General:"),
                help.indexOf("Example")).lines().flatMap(line -> Stream.of(line.split("[ ,]+")))
                .filter(word -> word.startsWith("--")).toList());
    }

    @Test
    void versionNamesTheProgramAndItsJava() {
        CommandRun run = CommandRun.of("--version");
        assertEquals(0, run.exitCode());
        assertTrue(run.out().startsWith("penstock ") && run.out().contains(" on Java " + Runtime.version()), run.out());
    }

    @Test
    void inspectAgreesWithTheManifestOfEveryStore() throws Exception {
        for (Fixtures.Entry entry : Fixtures.entries(Fixtures.TOKENS_AND_NPY).toList()) {
            CommandRun run = CommandRun.of("inspect", entry.path(), "--digest", "--json");
            if (entry.expect().equals("read")) {
                assertEquals(0, run.exitCode(), () -> entry + ": " + run.err());
                assertEquals(entry.kind(), run.json().get("kind"));
                List<Map<String, Object>> arrays =
                        Json.array(run.json().get("arrays")).stream().map(Json::object).toList();
                for (Map<String, Object> expected : entry.arrays()) {
                    Map<String, Object> found = arrays.stream()
                            .filter(array -> array.get("name").equals(expected.get("name"))).findFirst().orElseThrow();
                    assertEquals(expected.get("shape"), found.get("shape"), entry::toString);
                    assertEquals(expected.get("sha256"), found.get("sha256"), entry::toString);
                }
            } else {
                assertEquals(3, run.exitCode(), () -> entry + ": " + run.err());
                assertEquals(1, run.err().lines().count(), run.err());
                assertTrue(run.err().startsWith("penstock: "), run.err());
                assertEquals("", run.out());
            }
        }
    }

    @Test
    void theHelpHasWhatTheLauncherAddsToTheCommands() {
        assertTrue(CommandRun.of("--help").out().contains("penstock java FILE.java"), CommandRun.of("--help").out());
    }

    @Test
    void inspectSaysWhatATableIsInLines(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("t.csv"), "a,site\n1,x\n2,y\n");
        Files.writeString(folder.resolve("t.csv.table.json"), "{\"columns\": {\"site\": \"category\"}}");
        String text = CommandRun.of("inspect", file).out();
        assertTrue(text.contains("  csv:\n    packed: false\n    blocks: 1\n    delimiter: ,\n    categories:\n"
                + "      site: 2\n"), text);
    }

    @Test
    void aShapeThatIsNoneIsAnsweredByOne(@TempDir Path folder) throws IOException {
        Files.writeString(Files.createDirectory(folder.resolve("cat")).resolve("1.jpg"), "");
        CommandRun run = CommandRun.of("batches", folder, "--decode", "image=npy:u8:224,224,3");
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("a SHAPE is such as 224x224x3"), run.err());
    }

    @Test
    void inspectPrintsTextForPeopleAndAnArrayForSeveralStores() {
        Path megatron = Fixtures.path("megatron/u16_docs.idx");
        Path npy = Fixtures.path("npy/be_f4_4d_F.npy");
        CommandRun text = CommandRun.of("inspect", megatron, npy);
        assertEquals(0, text.exitCode(), text.err());
        assertTrue(text.out().contains(megatron + ": megatron\n") && text.out().contains("tokens: u16 ["), text.out());
        assertTrue(text.out().contains("stored as >f4 in order F"), text.out());
        assertFalse(text.out().contains("sha256"), text.out());
        List<Object> both = Json.array(Json.parse(CommandRun.of("inspect", megatron, npy, "--json").out()));
        assertEquals(List.of("megatron", "npy"), both.stream().map(store -> Json.object(store).get("kind")).toList());
    }

    @Test
    void inspectTakesAFormatAtItsWord() {
        Path raw = Fixtures.path("nanogpt/bpe/val.bin");
        CommandRun run = CommandRun.of("inspect", raw, "--format", "nanogpt", "--dtype", "u8", "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(List.of(15492L), Json.object(Json.array(run.json().get("arrays")).getFirst()).get("shape"));
    }

    @Test
    void devicesBeginWithTheHostAndSayWhetherThereIsCuda() {
        CommandRun run = CommandRun.of("devices", "--json");
        assertEquals(0, run.exitCode(), run.err());
        Map<String, Object> host = Json.object(Json.array(run.json().get("devices")).getFirst());
        assertEquals("host", host.get("name"));
        Map<String, Object> cuda = Json.object(run.json().get("cuda"));
        assertEquals(cuda.get("usable").equals(true), cuda.get("message") == null);
        assertEquals(Json.array(run.json().get("devices")).size() > 1, cuda.get("usable"));
        assertTrue(CommandRun.of("devices").out().startsWith("host "));
    }

    @ParameterizedTest
    @CsvSource({"0, --version", "2, inspect", "3, inspect no-such-store"})
    void theProcessEndsWithTheCommandsStatus(int exitCode, String line) throws Exception {
        CommandRun run = CommandRun.inProcess((Object[]) line.split(" "));
        assertEquals(exitCode, run.exitCode(), run.err());
        assertEquals(exitCode == 0 ? 0 : 1, run.err().lines().count(), run.err());
    }

    @Test
    void aStackTraceIsPrintedOnDemandAlone() {
        assertFalse(CommandRun.of("inspect", "no-such-store").err().contains("\tat "));
        assertTrue(CommandRun.of("inspect", "no-such-store", "--stacktrace").err().contains("\tat io.penstock."));
    }

    @Test
    void aProgressBarIsDrawnAfterASecondTenTimesASecondAndErased() {
        StringWriter terminal = new StringWriter();
        long second = 1_000_000_000L;
        try (ProgressBar bar = new ProgressBar(new PrintWriter(terminal), "tokenize", "B", 0)) {
            bar.update(10, 100, second - 1);
            assertEquals("", terminal.toString());
            bar.update(5_000_000, 20_000_000, 2 * second);
            assertEquals("\r\u001b[Ktokenize [=======>                      ]  25% 2.50 MB/s, 0:06 left",
                    terminal.toString());
            bar.update(6_000_000, 20_000_000, 2 * second + 1);
            assertEquals(-1, terminal.toString().indexOf("30%"));
            bar.update(20_000_000, 20_000_000, 3 * second);
            assertTrue(terminal.toString().endsWith("[==============================] 100% 6.67 MB/s, 0:00 left"));
        }
        assertTrue(terminal.toString().endsWith("left\r\u001b[K"));
    }

    @Test
    void aSecondPhaseIsDrawnUnderItsOwnNameAndCountedFromItsOwnStart() {
        StringWriter terminal = new StringWriter();
        long second = 1_000_000_000L;
        try (ProgressBar bar = new ProgressBar(new PrintWriter(terminal), "tokenize", "B", 0)) {
            bar.update(100, 100, 10 * second);
            bar.phase("checksum", 0, 10 * second + 1);
            bar.update(50, 100, 12 * second + 1);
            assertTrue(terminal.toString().endsWith(
                    "\r\u001b[Kchecksum [===============>              ]  50% 25 B/s, 0:02 left"), terminal.toString());
        }
    }

    @Test
    void aRateDoesNotCountWhatWasDoneBeforeItsPhaseWasHeardOf() {
        StringWriter terminal = new StringWriter();
        long second = 1_000_000_000L;
        try (ProgressBar bar = new ProgressBar(new PrintWriter(terminal), "tokenize", "B", 0)) {
            bar.update("checksum", 35_000_000, 75_000_000, 10 * second);
            assertTrue(terminal.toString().endsWith("]  46%"), terminal.toString());
            bar.update("checksum", 55_000_000, 75_000_000, 12 * second);
            assertTrue(terminal.toString().endsWith("10.0 MB/s, 0:02 left"), terminal.toString());
        }
    }

    @Test
    void anOptionOrCommandThatIsMisspelledIsFollowedByTheOneThatIsMeant() {
        CommandRun option = CommandRun.of("stream", "store", "--windw", "64");
        assertEquals(ExitCode.WRONG_USAGE, option.exitCode());
        assertTrue(option.err().contains("'--windw'") && option.err().contains("did you mean --window?"), option.err());
        CommandRun abbreviated = CommandRun.of("stream", "store", "--win", "64");
        assertTrue(abbreviated.err().contains("did you mean --window?"), abbreviated.err());
        CommandRun command = CommandRun.of("strem", "store");
        assertEquals(ExitCode.WRONG_USAGE, command.exitCode());
        assertTrue(command.err().contains("did you mean stream?"), command.err());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "batches store --shuffle       | unknown option '--shuffle'; did you mean --shuffle-window or --no-shuffle?",
        "batches store --num-workers 4 | unknown option '--num-workers'; did you mean --workers?",
        "batches store --batch-size=4  | unknown option '--batch-size'; did you mean --batch?",
        "batches store --drop_last     | unknown option '--drop_last'; did you mean --drop-last?",
        "batches store --seq-len 4     | unknown option '--seq-len'; did you mean --window?",
        "batches store --within-docs   | unknown option '--within-docs'; did you mean --within-documents?",
        "batches store --steps 4       | unknown option '--steps'; 'penstock stream' has it",
        "batches store --force         | unknown option '--force'",
        "batches store --verbose       | unknown option '--verbose'",
        "batches store -n              | unknown option '-n'",
        "devices --gpu 0               | unknown option '--gpu'",
        "fooo store                    | unknown command 'fooo'",
        "cache list                    | unknown command 'list', expected ls, verify or trim",
        "cache                         | missing command, expected ls, verify or trim",
        "devices extra                 | unexpected argument 'extra': penstock devices takes no arguments",
        "convert a b c                 | unexpected argument 'c': penstock convert takes A and B only",
        "inspect                       | missing required parameter: 'PATH'",
        "batches store --window x      | invalid value for option '--window': 'x', expected a whole number",
        "batches store --digest=1      | invalid value for option '--digest': '1', expected no value"})
    void wrongUsageIsSaidInItsUsersWordsAndGuessesOnlyWhatIsLikely(String line, String message) {
        CommandRun run = CommandRun.of((Object[]) line.split(" "));
        assertEquals("penstock: " + message + " (try 'penstock ", run.err().replaceFirst("(?<= [(]try 'penstock ).*\n",
                ""));
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode());
    }

    @Test
    void aStoreThatExistsIsRefusedWithTheOptionThatReplacesIt(@TempDir Path folder) throws IOException {
        Path text = Files.writeString(folder.resolve("a.txt"), "a text");
        Path store = folder.resolve("store");
        Path part = folder.resolve("part");
        List<List<Object>> commands = List.of(List.of("tokenize", text, "-o", store),
                List.of("tokenize", text, "-o", part, "--shard=0/1"),
                List.of("manifest", folder.resolve("part-00000-of-00001"), "-o", folder.resolve("joined")),
                List.of("merge", folder.resolve("joined.manifest.json"), "-o", folder.resolve("merged")),
                List.of("convert", store, folder.resolve("a.npy")),
                List.of("convert", store, folder.resolve("a.safetensors")),
                List.of("convert", store, folder.resolve("other"), "--to=megatron"),
                List.of("checksum", text));
        for (List<Object> command : commands) {
            CommandRun first = CommandRun.of(command.toArray());
            assertEquals(0, first.exitCode(), first.err());
            CommandRun second = CommandRun.of(command.toArray());
            assertEquals(ExitCode.FAILURE, second.exitCode(), command::toString);
            assertTrue(second.err().endsWith(": exists already; --force replaces it\n"), second.err());
            List<Object> forced = new ArrayList<>(command);
            forced.add("--force");
            assertEquals(0, CommandRun.of(forced.toArray()).exitCode(), command::toString);
        }
    }

    @Test
    void aListThatIsCutSaysHowManyOfAllAreLeftOut() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("sample_count", 60L);
        details.put("samples", IntStream.range(0, 16).mapToObj(i -> Map.of("key", "a key that takes its place " + i))
                .toList());
        StringBuilder text = new StringBuilder();
        DetailText.append(text, details);
        assertTrue(text.toString().endsWith("… and 48 more\n"), text.toString());
    }

    @Test
    void aBatchThatIsLargerThanAnEpochIsSaidWithWhatAnEpochHas(@TempDir Path folder) throws IOException {
        Path raw = Corpora.rawU16(folder, 1_000, 5);
        CommandRun run = CommandRun.of("stream", raw, "--format=nanogpt", "--window=32", "--batch=1000");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("1,000 samples (there are 31 per epoch)"), run.out());
        CommandRun none = CommandRun.of("batches", raw, "--format=nanogpt", "--window=32", "--batch=1000",
                "--drop-last");
        assertEquals(ExitCode.WRONG_USAGE, none.exitCode());
        assertTrue(none.err().contains("no batch in an epoch of 31 samples: a batch of 1000 is not full, and the last"
                + " batch is dropped if it is not; use a smaller batch, or keep the last batch"), none.err());
    }

    @Test
    void theDeviceOfARunIsToldInShortAndCommandsToCopyAreQuoted(@TempDir Path folder) throws IOException {
        Path raw = Corpora.rawU16(folder, 1_000, 5);
        Path report = folder.resolve("my run");
        CommandRun run = CommandRun.of("stream", raw, "--format=nanogpt", "--window=32", "--report", report);
        assertEquals(0, run.exitCode(), run.err());
        String device = run.out().lines().filter(line -> line.startsWith("device ")).findFirst().orElseThrow();
        assertTrue(device.length() <= 80, device);
        assertTrue(run.out().contains("    penstock report '" + report + "'\n"), run.out());
        Path text = Files.writeString(folder.resolve("a text.md"), "a text");
        assertTrue(CommandRun.of("inspect", text).err().contains("penstock tokenize '" + text + "' -o STORE"));
    }
}
