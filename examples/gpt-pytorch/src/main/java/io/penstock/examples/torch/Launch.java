// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import io.penstock.state.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Trains an epoch with several ranks, kills one in the middle, and goes on with fewer from the last checkpoint. Then it
 * checks that each position of the epoch was trained on once, and that the losses are those of ranks that nobody
 * killed. Takes the store, a folder, the numbers of ranks, and options of {@link Train} behind {@code --}.
 */
final class Launch {

    /** A rank is killed when it has done so many steps. */
    private static final int STEPS_TO_LIVE = 7;
    private static final int SAVE_EVERY = 5;

    private final Path store;
    private final List<String> options;

    private Launch(Path store, List<String> options) {
        this.store = store;
        this.options = options;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> all = List.of(args);
        int end = all.contains("--") ? all.indexOf("--") : all.size();
        int[] ranks = all.subList(2, end).stream().mapToInt(Integer::parseInt).toArray();
        Launch launch = new Launch(Path.of(args[0]), all.subList(Math.min(all.size(), end + 1), all.size()));
        launch.run(Path.of(args[1]), ranks);
    }

    private void run(Path folder, int[] ranks) throws IOException, InterruptedException {
        Path killed = folder.resolve("killed");
        Path whole = folder.resolve("whole");
        clear(killed);
        clear(whole);
        List<Long> switches = new ArrayList<>();
        for (int i = 0; i < ranks.length; i++) {
            boolean last = i == ranks.length - 1;
            train(killed, ranks[i], 0, !last);
            if (!last) {
                switches.add(step(killed));
            }
        }
        System.out.println("again, with the same numbers of ranks and nobody killed");
        for (int i = 0; i < ranks.length; i++) {
            train(whole, ranks[i], i == ranks.length - 1 ? 0 : switches.get(i), false);
        }
        List<String> losses = Files.readAllLines(killed.resolve("losses-0.csv"));
        if (!losses.equals(Files.readAllLines(whole.resolve("losses-0.csv")))) {
            throw new IllegalStateException("the losses differ: " + killed + " and " + whole);
        }
        long positions = audit(killed, switches);
        System.out.println("each of the " + positions + " positions was trained on once; " + losses.size()
                + " losses equal those of the run without a kill");
    }

    /** The step of a run's latest checkpoint; 0 without one. */
    private static long step(Path run) throws IOException {
        Optional<Path> latest = Checkpoint.latest(run);
        return latest.isPresent() ? Checkpoint.load(latest.get()).step() : 0;
    }

    private void train(Path run, int ranks, long stopAfter, boolean isKilled) throws IOException, InterruptedException {
        long from = step(run);
        System.out.println(ranks + " ranks from step " + from);
        List<Process> processes = new ArrayList<>();
        try {
            for (int rank = 0; rank < ranks; rank++) {
                processes.add(start(run, rank, ranks, from, stopAfter));
            }
            if (isKilled) {
                Process victim = processes.getLast();
                Path log = run.resolve("positions-" + from + "-" + (ranks - 1) + ".txt");
                while (victim.isAlive() && !(Files.exists(log) && Files.readAllLines(log).size() >= STEPS_TO_LIVE)) {
                    Thread.sleep(5);
                }
                victim.destroyForcibly();
                System.out.println("  rank " + (ranks - 1) + " is killed");
            }
            for (int rank = 0; rank < ranks; rank++) {
                int status = processes.get(rank).waitFor();
                if (status == 0 == isKilled) {
                    throw new IllegalStateException("rank " + rank + " of " + ranks + " ended with status " + status
                            + ": see " + run.resolve("rank-" + from + "-" + rank + ".txt"));
                }
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    private Process start(Path run, int rank, int ranks, long from, long stopAfter) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-Xmx256m",
                // Torch computes: a short run is over before the second compiler's code pays.
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                System.getProperty("java.class.path"), Train.class.getName(), "--store", store.toString(), "--out",
                run.toString(), "--epochs", "1", "--steps", "1000", "--save-every", String.valueOf(SAVE_EVERY),
                "--threads", "1", "--audit", "--stop-after", String.valueOf(stopAfter), "--meeting",
                run.resolve("meeting-" + from).toString()));
        command.addAll(options);
        ProcessBuilder process = new ProcessBuilder(command);
        process.environment().put("RANK", Integer.toString(rank));
        process.environment().put("WORLD_SIZE", Integer.toString(ranks));
        return process.redirectErrorStream(true)
                .redirectOutput(run.resolve("rank-" + from + "-" + rank + ".txt").toFile()).start();
    }

    /** What a killed run did behind its last checkpoint was done again, so it does not count. */
    private static long audit(Path run, List<Long> switches) throws IOException {
        Map<Long, Integer> times = new HashMap<>();
        List<Path> logs;
        try (Stream<Path> files = Files.list(run)) {
            logs = files.filter(file -> file.getFileName().toString().startsWith("positions-")).toList();
        }
        for (Path log : logs) {
            long from = Long.parseLong(log.getFileName().toString().split("-")[1]);
            long end = switches.stream().mapToLong(Long::longValue).filter(step -> step > from).min()
                    .orElse(Long.MAX_VALUE);
            for (String line : Files.readAllLines(log)) {
                String[] words = line.split(" ");
                for (int i = 1; i < words.length && Long.parseLong(words[0]) <= end; i++) {
                    times.merge(Long.parseLong(words[i]), 1, Integer::sum);
                }
            }
        }
        for (long position = 0; position < times.size(); position++) {
            if (times.getOrDefault(position, 0) != 1) {
                throw new IllegalStateException("position " + position + " was trained on "
                        + times.getOrDefault(position, 0) + " times");
            }
        }
        return times.size();
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
}
