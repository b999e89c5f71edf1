// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.format.manifest.ManifestPart.TokenOrigin;
import io.penstock.format.manifest.PartWriter;
import io.penstock.io.ReadMode;
import io.penstock.json.Json;
import io.penstock.loader.LoaderSettings;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.testing.Corpora;
import io.penstock.tune.Curve;
import io.penstock.tune.Measured;
import io.penstock.tune.PairedRounds;
import io.penstock.tune.SearchPoint;
import io.penstock.tune.Standing;
import io.penstock.tune.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(1200)
class TuneCommandTest {

    @TempDir
    Path folder;

    private Path store;

    @BeforeEach
    void writeStore() throws IOException {
        store = Corpora.rawU16(folder, 64 * 160 + 1, 11);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"in-place", "copy"})
    void writesWhatStreamTakes(String transfer) throws IOException {
        Path file = folder.resolve("settings.json");
        Path picture = folder.resolve("curves.svg");
        CommandRun run = known(found -> found.exitCode() != 0 || found.json().get("chosen") != null, "--batch", 8,
                "--transfer", transfer, "--json", "-o", file, "--svg", picture);
        assertEquals(0, run.exitCode(), run.err());
        Map<String, Object> result = run.json();
        assertEquals(false, result.get("interrupted"));
        assertEquals("warm: all of the store was in the page cache", result.get("cache"));
        List<Object> curves = Json.array(result.get("curves"));
        assertEquals("workers", Json.object(curves.getFirst()).get("setting"));

        LoaderSettings settings = LoaderSettings.read(file);
        Map<String, Object> chosen = Json.object(result.get("chosen"));
        assertEquals(chosen.get("workers"), (long) settings.workers().orElseThrow());
        assertEquals(chosen.get("prefetch"), (long) settings.prefetch().orElseThrow());
        assertEquals(chosen.get("read"), settings.readMode().orElseThrow().toString());
        assertTrue(settings.note().contains("penstock tune") && settings.note().contains("warm"), settings.note());
        assertTrue(Files.readString(picture).startsWith("<svg "));

        Map<String, Object> stream = CommandRun.of("stream", store, "--window", 64, "--batch", 8, "--device", "host",
                "--json", "--settings", file).json();
        assertEquals(chosen.get("workers"), stream.get("workers"));
        assertEquals(chosen.get("read"), stream.get("read"));
    }

    @Test
    void optionsBesideASettingsFileCountMore() throws IOException {
        Path file = Files.writeString(folder.resolve("s.json"),
                "{\"loader_settings\": 1, \"workers\": 2, \"prefetch\": 5, \"read\": \"pread\"}");
        Map<String, Object> told = stream("--settings", file);
        assertEquals(2L, told.get("workers"));
        assertEquals("pread", told.get("read"));
        assertEquals(5L + 2 + 1, Json.object(told.get("memory")).get("host_slots"));
        Map<String, Object> other = stream("--settings", file, "--workers", 1, "--prefetch", 3, "--read", "mmap");
        assertEquals(1L, other.get("workers"));
        assertEquals("mmap", other.get("read"));
        assertEquals(3L + 1 + 1, Json.object(other.get("memory")).get("host_slots"));
    }

    private Map<String, Object> stream(Object... options) {
        Object[] args = new Object[options.length + 7];
        System.arraycopy(new Object[] {"stream", store, "--window", 64, "--device", "host", "--json"}, 0, args, 0, 7);
        System.arraycopy(options, 0, args, 7, options.length);
        CommandRun run = CommandRun.of(args);
        assertEquals(0, run.exitCode(), run.err());
        return run.json();
    }

    @Test
    void settingsThatAreNoneAreBadInput() throws IOException {
        Path file = Files.writeString(folder.resolve("s.json"), "{\"loader_settings\": 1, \"wrokers\": 2}");
        CommandRun run = CommandRun.of("stream", store, "--window", 64, "--settings", file);
        assertEquals(3, run.exitCode());
        assertEquals("penstock: " + file + ": not loader settings: found 'wrokers', expected loader_settings,"
                + " workers, prefetch, read, device_slots, note\n", run.err());
        assertEquals(3, CommandRun.of("stream", store, "--window", 64, "--settings", folder.resolve("none"))
                .exitCode());
    }

    @ParameterizedTest
    @CsvSource({"--budget, 0s", "--budget, soon", "--budget, 5d", "--memory, -1", "--memory, 3Q", "--step-ms, 0",
        "--output, /no/such/folder/s.json", "--memory, 1K"})
    void wrongUsageIsRefusedInOneLine(String option, String value) {
        CommandRun run = CommandRun.of("tune", store, "--window", 64, "--device", "host", "--budget", "100ms", option,
                value);
        assertEquals(2, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
    }

    @Test
    void saysWhatItWillDoAndWhatItFound() {
        CommandRun run = known(found -> !found.out().contains("Nothing was measured yet."), "--step-ms", 1);
        assertEquals(0, run.exitCode(), run.err());
        for (String part : List.of(" s in rounds of ", "workers 0 1", "in the page cache; left as it is",
                "95 % interval", "<- chosen", "with a step of 1.000 ms", "Measured warm", "Best: workers ")) {
            assertTrue(run.out().contains(part), () -> part + " is not in:\n" + run.out());
        }
    }

    /** Searches until something is known: on a busy machine that takes longer, and the command says so. */
    private CommandRun known(Predicate<CommandRun> isKnown, Object... options) {
        for (long millis = 1500;; millis *= 2) {
            List<Object> command = new ArrayList<>(List.of("tune", store, "--window", 64, "--device", "host",
                    "--budget", millis + "ms"));
            command.addAll(List.of(options));
            CommandRun run = CommandRun.of(command.toArray());
            if (isKnown.test(run)) {
                return run;
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aColdRoundIsColdOrItFails() throws IOException {
        Path large = Corpora.rawU16(Files.createDirectories(folder.resolve("large")), 4_000_001, 3);
        CommandRun run = CommandRun.of("tune", large, "--window", 1024, "--device", "host", "--budget", "500ms",
                "--cold", "--json");
        if (run.exitCode() == 0) {
            assertEquals(true, run.json().get("cold"));
        } else {
            assertEquals(1, run.exitCode());
            assertTrue(run.err().contains("% of its pages stayed in the page cache after dropping it"), run.err());
        }
    }

    @Test
    void thePartsOfAManifestAreFilesOfTheStore() throws IOException {
        TokenOrigin origin = new TokenOrigin("t", "0".repeat(64));
        List<ManifestPart> parts = new ArrayList<>();
        for (String name : List.of("first", "second")) {
            try (PartWriter writer = PartWriter.create(folder.resolve(name), DType.U16, origin, IfExists.FAIL)) {
                writer.documents().append(new int[4000], 0, 4000);
                writer.documents().endDocument();
                parts.add(writer.commit(Progress.NONE));
            }
        }
        new Manifest(parts).write(folder.resolve("all.manifest.json"), IfExists.FAIL);
        for (String name : List.of("all.manifest.json", "all")) {
            CommandRun run = CommandRun.of("tune", folder.resolve(name), "--window", 64, "--device", "host",
                    "--budget", "10ms");
            assertEquals(0, run.exitCode(), run.err());
            assertTrue(run.out().contains("data     5 files, "), "an index and a .bin of each part\n" + run.out());
        }
    }

    @Tag("slow")
    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void anInterruptGivesWhatIsKnown() throws Exception {
        Path file = folder.resolve("settings.json");
        CommandRun run = CommandRun.interrupted(out -> !out.isEmpty(), "tune", store, "--window", 64, "--device",
                "host", "--budget", "100s", "-o", file);
        assertEquals(130, run.exitCode(), run.err());
        assertTrue(run.out().contains("Nothing was measured yet.") && Files.notExists(file)
                || run.out().contains("interrupted") && Files.exists(file), run.out());
    }

    @Test
    void noSettingIsSaidToBeFasterThanTheFastest() {
        SearchPoint one = new SearchPoint(1, 2, ReadMode.AUTO, 3);
        SearchPoint two = new SearchPoint(2, 4, ReadMode.AUTO, 3);
        Measured fastest = new Measured(two, 1024, 9, 2000, 1900, 2100, new PairedRounds(1, 1, 1, 9),
                Standing.FASTEST);
        Measured lucky = new Measured(one, 512, 9, 1900, 1000, 2600, new PairedRounds(1.24, 0.9, 1.5, 9),
                Standing.WITHIN_NOISE);
        Tuning tuning = new Tuning(one, two, List.of(new Curve("workers", List.of(lucky, fastest), lucky)), List.of(),
                0, false, 0, 18, 1_000_000_000, false);
        String text = new TuneReport("store", 0, false, 1, 1, 1, "host").text(tuning, 1);
        assertFalse(text.contains("1.24") || text.contains("+24"), text);
        assertTrue(text.contains("within noise") && text.contains("1.00"), text);
    }
}
