// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.TokenWindows;
import io.penstock.diagnose.watch.Peers;
import io.penstock.diagnose.watch.RunView;
import io.penstock.diagnose.watch.StatusFile;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Whether {@code watch} names the slow ranks of many, with the right cause: ranks as processes on this machine, each
 * with a real loader and a trainer that sleeps for its step, so that they load the machine little. In each run, four
 * ranks drawn by chance have a fault: decoding, storage or computing takes longer, or the process is stopped by a
 * signal. Healthy runs are between them. A run is the ranks' steps after their diagnoses were restarted; the processes
 * go on from run to run.
 *
 * <p>Options: {@code --ranks 64 --runs 20 --step-ms 250 --seed 1 --folder DIR}.
 */
public final class RanksAsProcesses {

    private static final int WINDOW = 128;
    private static final long MILLI = 1_000_000;
    private static final int LOOK_MILLIS = 1_000;
    /** Within which a rank must be named, in steps. */
    private static final int STEPS_TO_NAME = 50;
    private static final int SILENT_MILLIS = 15_000;
    private static final String ROLE = "role-";
    private static final String HEALTHY = "healthy";
    private static final Map<String, String> FAULTS = new TreeMap<>(Map.of("decode", "decode", "storage",
            "read blocked", "compute", "compute", "stopped", "silent"));

    private final int ranks;
    private final long stepMillis;
    private final Path folder;
    private final List<Process> processes = new ArrayList<>();
    private final Random random;

    private RanksAsProcesses(Map<String, String> options) throws IOException {
        this.ranks = Integer.parseInt(options.getOrDefault("ranks", "64"));
        this.stepMillis = Long.parseLong(options.getOrDefault("step-ms", "250"));
        this.random = new Random(Long.parseLong(options.getOrDefault("seed", "1")));
        this.folder = options.containsKey("folder") ? Files.createDirectories(Path.of(options.get("folder")))
                : Files.createTempDirectory("ranks");
    }

    /** See {@code bench/README.md}. */
    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length > 0 && args[0].equals("rank")) {
            rank(Path.of(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]), Long.parseLong(args[4]));
            return;
        }
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i].substring(2), args[i + 1]);
        }
        var all = new RanksAsProcesses(options);
        Thread ending = new Thread(all::end);
        Runtime.getRuntime().addShutdownHook(ending);
        all.start();
        all.runs(Integer.parseInt(options.getOrDefault("runs", "20")));
    }

    // ---- one rank

    private static void rank(Path folder, int rank, int world, long stepMillis) throws IOException {
        Path role = folder.resolve(ROLE + rank);
        String[] now = {Files.readString(role)};
        try (TokenStore store = TokenStore.open(folder.resolve("tokens.bin"), "nanogpt")) {
            Dataset dataset = new FaultyDataset(TokenWindows.of(store, WINDOW),
                    _ -> sleep(now[0].startsWith("storage") ? 2 * stepMillis : stepMillis / 10),
                    _ -> sleep(now[0].startsWith("decode") ? 2 * stepMillis : stepMillis / 10));
            try (DataLoader loader = DataLoader.builder(dataset).batchSize(1).workers(1).readAhead(0)
                            .shard(new Shard(rank, world, TailPolicy.PAD)).name("ranks").open();
                    Diagnosis diagnosis = Diagnosis.of(loader);
                    StatusFile _ = StatusFile.open(diagnosis::status, rank, folder.resolve("run"))) {
                while (true) {
                    try (Batch _ = loader.next()) {
                        sleep(now[0].startsWith("compute") ? 2 * stepMillis : stepMillis);
                    }
                    String next = Files.readString(role);
                    if (next.equals("end")) {
                        return;
                    }
                    if (!next.equals(now[0]) && !next.isEmpty()) {
                        now[0] = next;
                        diagnosis.restart();
                    }
                }
            }
        }
    }

    private static void sleep(long millis) {
        Situation.sleep(millis * MILLI);
    }

    // ---- all ranks

    private void start() throws IOException, InterruptedException {
        byte[] tokens = new byte[4_000_000];
        new Random(0).nextBytes(tokens);
        Files.write(folder.resolve("tokens.bin"), tokens);
        Files.createDirectories(folder.resolve("run"));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        for (int rank = 0; rank < ranks; rank++) {
            Files.writeString(folder.resolve(ROLE + rank), HEALTHY + " 0");
            processes.add(new ProcessBuilder(java, "-Xmx48m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                    "-Xshare:auto", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                    RanksAsProcesses.class.getName(), "rank", folder.toString(), String.valueOf(rank),
                    String.valueOf(ranks), String.valueOf(stepMillis)).redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log-" + rank).toFile()).start());
            Thread.sleep(LOOK_MILLIS / 2);
        }
        try (Peers peers = peers()) {
            var history = new RunView.History(Double.NaN);
            while (history.add(peers.ask(), System.currentTimeMillis()).ranks().size() < ranks) {
                if (processes.stream().anyMatch(process -> !process.isAlive())) {
                    throw new IllegalStateException("a rank has ended: see " + folder + "/log-*");
                }
                Thread.sleep(LOOK_MILLIS);
            }
        }
        System.out.printf(Locale.ROOT, "%d ranks run, with steps of %d ms%n", ranks, stepMillis);
    }

    private Peers peers() {
        return new Peers(List.of(folder.resolve("run").toString()), "", 5_000);
    }

    private void runs(int count) throws IOException, InterruptedException {
        Map<String, Integer> named = new TreeMap<>();
        int right = 0;
        int quiet = 0;
        for (int run = 1; run <= count; run++) {
            quiet += healthy(2 * run - 1) ? 1 : 0;
            Map<Integer, String> faults = new TreeMap<>();
            FAULTS.keySet().forEach(fault -> {
                int rank = random.nextInt(ranks);
                while (faults.containsKey(rank)) {
                    rank = random.nextInt(ranks);
                }
                faults.put(rank, fault);
            });
            Map<Integer, String> found = faulty(2 * run, faults);
            boolean all = found.keySet().equals(faults.keySet());
            for (Map.Entry<Integer, String> fault : faults.entrySet()) {
                boolean is = found.getOrDefault(fault.getKey(), "").startsWith(FAULTS.get(fault.getValue()));
                named.merge(fault.getValue(), is ? 1 : 0, Integer::sum);
                all &= is;
            }
            right += all ? 1 : 0;
            System.out.printf(Locale.ROOT, "run %d: %s; found %s; all four and no other: %d of %d; healthy and none"
                    + " named: %d of %d; by fault: %s%n", run, faults, found, right, run, quiet, run, named);
        }
    }

    private void begin(int run, Map<Integer, String> faults) throws IOException {
        for (int rank = 0; rank < ranks; rank++) {
            Path role = folder.resolve(ROLE + rank);
            Path next = folder.resolve("next-" + rank);
            Files.writeString(next, faults.getOrDefault(rank, HEALTHY) + " " + run);
            Files.move(next, role, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private boolean healthy(int run) throws IOException, InterruptedException {
        begin(run, Map.of());
        Map<Integer, String> found = watch();
        if (!found.isEmpty()) {
            System.out.println("healthy run " + run + ": named " + found);
        }
        return found.isEmpty();
    }

    private Map<Integer, String> faulty(int run, Map<Integer, String> faults)
            throws IOException, InterruptedException {
        begin(run, faults);
        Thread.sleep(5 * stepMillis);
        int stopped = faults.entrySet().stream().filter(fault -> fault.getValue().equals("stopped")).findFirst()
                .orElseThrow().getKey();
        signal("STOP", stopped);
        try {
            return watch();
        } finally {
            signal("CONT", stopped);
        }
    }

    private void signal(String name, int rank) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, String.valueOf(processes.get(rank).pid())).inheritIO().start()
                .waitFor();
    }

    /** Watches as {@code penstock watch} does, and returns the rows with a note once the time to name has passed. */
    private Map<Integer, String> watch() throws InterruptedException {
        try (Peers peers = peers()) {
            var history = new RunView.History(Double.NaN);
            long end = System.currentTimeMillis() + Math.max(STEPS_TO_NAME * stepMillis, SILENT_MILLIS + 5_000L);
            RunView view = history.add(peers.ask(), System.currentTimeMillis());
            while (System.currentTimeMillis() < end) {
                Thread.sleep(LOOK_MILLIS);
                view = history.add(peers.ask(), System.currentTimeMillis());
            }
            Map<Integer, String> notes = new TreeMap<>();
            view.ranks().stream().filter(row -> !row.note().isEmpty())
                    .forEach(row -> notes.put(row.status().rank(), row.note()));
            return notes;
        }
    }

    private void end() {
        processes.forEach(Process::destroyForcibly);
    }
}
