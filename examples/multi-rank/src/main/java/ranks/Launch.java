// SPDX-License-Identifier: Apache-2.0
package ranks;

import io.penstock.dataset.TokenWindows;
import io.penstock.state.Checkpoint;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Starts the ranks, kills one, starts again with another number of ranks, and checks the samples that were trained on.
 * Takes the store, a folder, and the numbers of ranks: the last of them trains to the end of the epoch.
 */
public final class Launch {

    /** A rank is killed this many steps behind the checkpoint that its run started from. */
    private static final int STEPS_TO_LIVE = 12;

    private final Path store;
    private final Path run;

    private Launch(Path store, Path run) {
        this.store = store;
        this.run = run;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Path run = Path.of(args[1]).toAbsolutePath();
        clear(run);
        Launch launch = new Launch(Path.of(args[0]).toAbsolutePath(), run);
        for (int i = 2; i < args.length; i++) {
            launch.train(Integer.parseInt(args[i]), i == args.length - 1);
        }
        launch.check();
    }

    private static void clear(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        Files.createDirectories(folder);
    }

    /** The last step that a checkpoint has; 0 without one. */
    private long step() throws IOException {
        Optional<Path> latest = Checkpoint.latest(run);
        return latest.isPresent() ? Checkpoint.load(latest.get()).step() : 0;
    }

    private void train(int ranks, boolean toTheEnd) throws IOException, InterruptedException {
        long from = step();
        System.out.println(ranks + " ranks, " + (from == 0 ? "from the start" : "from the checkpoint of step " + from));
        List<Process> processes = new ArrayList<>();
        try {
            for (int rank = 0; rank < ranks; rank++) {
                processes.add(start(rank, ranks, from));
            }
            if (!toTheEnd) {
                int last = ranks - 1;
                Path log = run.resolve("samples-" + from + "-" + last + ".txt");
                awaitLines(log, processes.get(last));
                processes.get(last).destroyForcibly();
                System.out.println("  rank " + last + " is killed behind step " + (from + STEPS_TO_LIVE) + " or later");
            }
            for (int rank = 0; rank < ranks; rank++) {
                int exit = processes.get(rank).waitFor();
                if (exit == 0 != toTheEnd) {
                    throw new IllegalStateException("rank " + rank + " of " + ranks + " ended with status " + exit
                            + ", see " + run.resolve("rank-" + from + "-" + rank + ".err"));
                }
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    private Process start(int rank, int ranks, long from) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder process = new ProcessBuilder(java, "--enable-native-access=ALL-UNNAMED", "-Xmx256m",
                "-cp", System.getProperty("java.class.path"), "ranks.Rank",
                store.toString(), run.toString(), run.resolve("socket-" + from).toString());
        process.environment().put("RANK", Integer.toString(rank));
        process.environment().put("WORLD_SIZE", Integer.toString(ranks));
        return process.redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(run.resolve("rank-" + from + "-" + rank + ".err").toFile()).start();
    }

    private static void awaitLines(Path log, Process process) throws IOException, InterruptedException {
        while (process.isAlive()) {
            if (Files.exists(log) && Files.readString(log).lines().count() >= STEPS_TO_LIVE) {
                return;
            }
            Thread.sleep(5);
        }
        throw new IllegalStateException("the epoch has no " + STEPS_TO_LIVE + " steps left, or a rank failed: see "
                + log.getParent());
    }

    /** What a killed run did behind its last checkpoint was done again, so it does not count. */
    private void check() throws IOException {
        long[] starts;
        List<Path> logs;
        try (Stream<Path> files = Files.list(run)) {
            logs = files.filter(file -> file.getFileName().toString().startsWith("samples-")).toList();
            starts = logs.stream().mapToLong(Launch::start).sorted().distinct().toArray();
        }
        int samples;
        try (TokenStore tokens = TokenStore.open(store)) {
            samples = Math.toIntExact(TokenWindows.of(tokens, Rank.CONTEXT).size());
        }
        int[] times = new int[samples];
        for (Path log : logs) {
            long end = Long.MAX_VALUE;
            for (long start : starts) {
                if (start > start(log)) {
                    end = Math.min(end, start);
                }
            }
            for (String line : Files.readAllLines(log)) {
                String[] words = line.split(" ");
                if (Long.parseLong(words[0]) <= end) {
                    for (int i = 1; i < words.length; i++) {
                        times[Integer.parseInt(words[i])]++;
                    }
                }
            }
        }
        for (int sample = 0; sample < samples; sample++) {
            if (times[sample] != 1) {
                throw new IllegalStateException("sample " + sample + " was trained on " + times[sample] + " times");
            }
        }
        System.out.println("every one of the " + samples + " samples was trained on once");
    }

    /** The step of the checkpoint that a log's run started from. */
    private static long start(Path log) {
        return Long.parseLong(log.getFileName().toString().split("-")[1]);
    }
}
