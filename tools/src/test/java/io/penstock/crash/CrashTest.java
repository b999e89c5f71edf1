// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.crash.CrashProgram.Extent;
import io.penstock.device.cuda.ChildJvm;
import io.penstock.testing.Modules;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All that writes, stopped at every call. {@code -Dpenstock.crash} says how much is tried, as {@link Extent} has it;
 * {@code -Dpenstock.crash.seed} chooses what, and {@code -Dpenstock.crash.only} the writers, by a pattern of names.
 */
@Tag("slow")
class CrashTest {

    private static final Extent EXTENT = Extent.valueOf(System.getProperty("penstock.crash",
            Thorough.isOn() ? "bounded" : "brief").toUpperCase(Locale.ROOT));
    private static final String SEED = System.getProperty("penstock.crash.seed", "1");
    private static final String ONLY = System.getProperty("penstock.crash.only", ".*");
    private static final int PARTS = 2;
    private static final long TIMEOUT_SECONDS = EXTENT.compareTo(Extent.BOUNDED) <= 0 ? 900 : 6 * 3600;
    private static final int SHOWN_LOSSES = 40;

    /** What writes, moves or removes files, by the names of the JDK. */
    private static final Pattern WRITES = Pattern.compile("Files\\.(write|writeString|newOutputStream|newBufferedWriter"
            + "|newByteChannel|copy|move|delete|deleteIfExists|createFile|createTempFile|createDirectory"
            + "|createDirectories|createLink|createSymbolicLink)\\(|new (FileOutputStream|FileWriter|RandomAccessFile)"
            + "\\(|StandardOpenOption\\.(WRITE|APPEND)");

    /** The classes that do, and which writers of the table reach them, or why there is nothing to try. */
    private static final Map<String, String> WRITERS_BY_CLASS = Map.ofEntries(
            Map.entry("AtomicFile", "loader state, checkpoint, filter, settings, profile, summary, report, trace,"
                    + " baseline"),
            Map.entry("Checkpoint", "checkpoint, checkpoint of a step"),
            Map.entry("StepFolder", "checkpoint of a step"),
            Map.entry("StagingFolder", "all stores, checksum"),
            Map.entry("WriterLock", "all stores, checksum"),
            Map.entry("Commit", "all stores, checksum"),
            Map.entry("MegatronWriter", "megatron, tokenize, part, convert to megatron"),
            Map.entry("IndexFile", "tars, index beside a shard"),
            Map.entry("WebDatasetWriter", "tars; a shard that it adopts is moved to the folder that the commit moves"),
            Map.entry("Folder", "summary"),
            Map.entry("Ledger", "none: a log, whose records have digests; LedgerTest cuts it off at every byte, and"
                    + " KilledLedgerTest kills processes"),
            Map.entry("ObjectFolder", "none: a cache, whose blocks have checksums; processes are killed in"
                    + " CacheProcessesTest"),
            Map.entry("BlockTable", "none: a cache"),
            Map.entry("BlockCache", "none: a cache"),
            Map.entry("PlanTable", "none: counts while its process lives"),
            Map.entry("Spool", "none: a log, whose records have checksums; SpoolSourceTest cuts it off anywhere, and"
                    + " KilledSpoolTest kills processes"),
            Map.entry("Upload", "none: local files that are uploaded; UploadCrashTest fails requests and kills"),
            Map.entry("UploadJournal", "none: as Upload"),
            Map.entry("ClipIndex", "none: parts and the index are written by AtomicFile"),
            Map.entry("MappedConversion", "none: tars, each by WebDatasetWriter, and a record by AtomicFile;"
                    + " MappedConversionTest stops it and goes on"),
            Map.entry("IsolatedDecoder", "none: names of a socket and of memory, which are removed once a process has"
                    + " them; IsolatedTest kills processes"),
            Map.entry("SharedMemory", "none: memory of a process, without a name once it has it"),
            Map.entry("UpgradedJar", "none: a copy of a jar for the launcher's cache, moved to its place; without it"
                    + " the command starts with the jar itself"),
            Map.entry("LibrarySet", "none: libraries in a temporary folder, deleted once they are loaded"),
            Map.entry("UnnamedFile", "none: a temporary file that loses its name before it is read"),
            Map.entry("NewCommand", "none: text files of a new project, each by AtomicFile"),
            Map.entry("DecodedCache", "none: a temporary file that loses its name before it is written"),
            Map.entry("Manual", "none: pages of an archive that is being built"),
            Map.entry("RunCommand", "none: a jar in a temporary folder, deleted when the trainer ends"),
            Map.entry("QuickstartCommand", "none: copies of the examples that it has with it"),
            Map.entry("Penstock", "none: standard output"));

    @TempDir
    private static Path folder;
    private static Path shim;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        shim = CallShim.build(folder);
    }

    private static List<String> run(String... arguments) throws IOException, InterruptedException {
        ChildJvm.Result result = new ChildJvm().variable(CallShim.PRELOAD, shim).within(TIMEOUT_SECONDS)
                .run(CrashProgram.class, arguments);
        assertEquals(0, result.exitCode(), result.output());
        return result.output().lines().toList();
    }

    @Test
    void eachWriterLeavesTheOldOrTheNewWhateverStopsIt() throws Exception {
        List<String> lines = new ArrayList<>();
        try (ExecutorService parts = Executors.newFixedThreadPool(PARTS)) {
            List<Future<List<String>>> running = new ArrayList<>();
            for (int part = 0; part < PARTS; part++) {
                String number = Integer.toString(part);
                running.add(parts.submit(() -> run("try", EXTENT.toString(), SEED, number, Integer.toString(PARTS),
                        ONLY)));
            }
            for (Future<List<String>> each : running) {
                lines.addAll(each.get());
            }
        }
        System.out.println(table(lines));
        List<String> losses = lines.stream().filter(line -> line.startsWith("loss\t")).toList();
        assertEquals(0, losses.size(), () -> losses.size() + " losses, with the seed " + SEED + ":\n"
                + String.join("\n", losses.subList(0, Math.min(SHOWN_LOSSES, losses.size()))));
    }

    /** As the page in the documents has it: a row a writer, what was new and what was replaced together. */
    private static String table(List<String> lines) {
        Map<String, long[]> rows = new LinkedHashMap<>();
        long[] all = new long[CrashProgram.COUNTS.size() + 1];
        lines.stream().filter(line -> line.startsWith("tally\t")).map(line -> line.split("\t")).forEach(fields -> {
            long[] row = rows.computeIfAbsent(fields[1].replaceFirst(", (new|replacing)$", ""),
                    _ -> new long[all.length]);
            for (int i = 0; i < all.length; i++) {
                row[i] += Long.parseLong(fields[2 + i]);
                all[i] += Long.parseLong(fields[2 + i]);
            }
        });
        rows.put("all", all);
        StringBuilder table = new StringBuilder("| writer | " + String.join(" | ", CrashProgram.COUNTS)
                + " | lost |\n|---|" + "---:|".repeat(all.length) + "\n");
        rows.forEach((name, row) -> {
            table.append("| ").append(name).append(" |");
            Arrays.stream(row).forEach(count -> table.append(String.format(Locale.ROOT, " %,d |", count)));
            table.append('\n');
        });
        return table.toString();
    }

    @Test
    void theHarnessFindsTheFaultsOfWritersThatHaveThem() throws IOException, InterruptedException {
        List<String> lines = run("mutants");
        for (Map.Entry<Writer, Pattern> mutant : Mutants.all().entrySet()) {
            String name = mutant.getKey().name();
            List<String> losses = lines.stream().filter(line -> line.startsWith("loss\t" + name + ", ")).toList();
            assertTrue(lines.stream().anyMatch(line -> line.startsWith("tally\t" + name + ", ")), name);
            if (name.equals(Mutants.SOUND)) {
                assertEquals(List.of(), losses);
            } else {
                assertTrue(losses.stream().anyMatch(loss -> mutant.getValue().matcher(loss).find()),
                        () -> name + ": no " + mutant.getValue() + " in\n" + String.join("\n", losses));
            }
        }
    }

    /** What a run that was killed has written may be in memory only; the next one gives it without writing it again. */
    @Test
    void aSpoolThatIsContinuedIsSyncedBeforeItGivesWhatItHas() throws IOException, InterruptedException {
        List<String> synced = run("spool").stream().filter(line -> line.startsWith("synced\t")).toList();
        assertTrue(synced.stream().anyMatch(line -> line.endsWith("/00000000000000000000.spool")), synced.toString());
        assertTrue(synced.contains("synced\t0"), synced.toString());
    }

    @Test
    void eachClassThatWritesIsInTheTable() throws IOException {
        TreeSet<String> found = new TreeSet<>();
        for (Path sources : Modules.sources()) {
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    if (WRITES.matcher(Files.readString(file)).find()) {
                        found.add(file.getFileName().toString().replace(".java", ""));
                    }
                }
            }
        }
        assertEquals(new TreeSet<>(WRITERS_BY_CLASS.keySet()), found);
    }
}
