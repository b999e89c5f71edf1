// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import io.penstock.crash.CallShim.Action;
import io.penstock.crash.CallShim.Kind;
import io.penstock.io.publish.Folder;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.SpoolSource;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/**
 * The program into which the shim is loaded: puts writers to all trials, and prints a line {@code tally} with counts a
 * scene, and a line {@code loss} each time that something was lost.
 */
final class CrashProgram {

    /** How much is tried. */
    enum Extent {
        /** What fits a build. */
        BRIEF(6, 2, 1, 1, 0.05, 1, 1),
        /** What is tried before a release. */
        BOUNDED(20, 4, 2, 1, 0.1, 1, 1),
        /** Every call in every way, every change, and many subsets. */
        CALLS(ALL, ALL, ALL, 12, 1, ALL, 1),
        /** That, and a process killed at every call. */
        WHOLE(ALL, ALL, ALL, 12, 1, ALL, ALL);

        private final int eio;
        private final int otherFaults;
        private final int singles;
        private final int subsets;
        private final double shareWrittenOver;
        /** How many of the states that a kill leaves are the scene of a next writer that is stopped. */
        private final int nextWriters;
        private final int kills;

        Extent(int eio, int otherFaults, int singles, int subsets, double shareWrittenOver, int nextWriters,
                int kills) {
            this.eio = eio;
            this.otherFaults = otherFaults;
            this.singles = singles;
            this.subsets = subsets;
            this.shareWrittenOver = shareWrittenOver;
            this.nextWriters = nextWriters;
            this.kills = kills;
        }
    }

    private static final int ALL = Integer.MAX_VALUE;
    private static final int FAULTS_OF_NEXT_WRITER = 4;
    /** Of so many scenes of a bounded run, one has processes killed. */
    private static final int SCENES_PER_KILL = 3;
    static final List<String> COUNTS = List.of("calls", "kills", "prefixes", "states", "different");

    private CrashProgram() {
    }

    /**
     * Runs.
     *
     * @param args {@code try EXTENT SEED PART PARTS ONLY}, or {@code mutants}, or {@code spool}, or what {@link Kills}
     *     gives
     */
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "try" -> attempt(Extent.valueOf(args[1]), Long.parseLong(args[2]), Integer.parseInt(args[3]),
                    Integer.parseInt(args[4]), args[5]);
            case "mutants" -> mutants();
            case "spool" -> spool();
            case "die" -> {
                Writer writer = Writers.of(Path.of(args[1]), true).stream().filter(one -> one.name().equals(args[2]))
                        .findFirst().orElseThrow();
                Kills.die(writer, Boolean.parseBoolean(args[3]), Path.of(args[4]), Long.parseLong(args[5]),
                        Action.valueOf(args[6]));
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void attempt(Extent extent, long seed, int part, int parts, String only) throws Exception {
        Path work = workFolder();
        try {
            Path inputs = Files.createDirectories(work.resolve("inputs"));
            Writers.prepare(inputs);
            List<Writer> writers = Writers.of(inputs, extent.compareTo(Extent.BOUNDED) > 0);
            for (int i = part; i < 2 * writers.size(); i += parts) {
                Writer writer = writers.get(i / 2);
                if (writer.name().matches(only)) {
                    print(attempt(extent, seed + i, Scene.of(writer, i % 2 == 1, work.resolve("w")), inputs));
                }
            }
        } finally {
            Folder.delete(work);
        }
    }

    private static void mutants() throws Exception {
        Path work = workFolder();
        try {
            for (Writer mutant : Mutants.all().keySet()) {
                for (boolean replacing : new boolean[] {false, true}) {
                    Scene scene = Scene.of(mutant, replacing, work.resolve("w"));
                    Tally tally = new Tally(scene);
                    SplittableRandom random = new SplittableRandom(1);
                    new FailingCalls(scene, tally).run(random, ALL, ALL);
                    new PowerLoss(scene, tally, random, ALL, 4, 1).run(work.resolve("log"));
                    print(tally);
                }
            }
        } finally {
            Folder.delete(work);
        }
    }

    /** Opens a spool that an earlier run has written, and prints what it synced before it gave the first record. */
    private static void spool() throws Exception {
        Path work = workFolder();
        try {
            Path folder = work.resolve("spool");
            Path log = work.resolve("log");
            for (boolean isLogged : new boolean[] {false, true}) {
                if (isLogged) {
                    CallShim.log(log);
                    CallShim.watch(folder);
                }
                var source = new SpoolSource(StreamSource.once("one", List.of(MemorySegment.ofArray(new byte[8]))
                        .iterator()), folder, 1 << 20);
                try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
                    reader.poll(into);
                    CallShim.watch(null);
                    CallShim.log(null);
                }
            }
            Map<Integer, String> paths = new HashMap<>();
            for (CallLog.Call call : CallLog.read(log)) {
                if (call.operation() == 'O') {
                    paths.put(call.descriptor(), call.path());
                } else if (call.operation() == 'S') {
                    System.out.println("synced\t" + paths.get(call.descriptor()));
                }
            }
        } finally {
            Folder.delete(work);
        }
    }

    /** In memory where there is such a folder, as syncs then cost nothing. */
    private static Path workFolder() throws IOException {
        Path memory = Path.of("/dev/shm");
        return (Files.isWritable(memory) ? Files.createTempDirectory(memory, "penstock-crash-")
                : Files.createTempDirectory("penstock-crash-")).toRealPath();
    }

    private static Tally attempt(Extent extent, long seed, Scene scene, Path inputs) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        Tally tally = new Tally(scene);
        long begin = System.nanoTime();
        Path log = inputs.resolveSibling("log");
        new FailingCalls(scene, tally).run(random, extent.eio, extent.otherFaults);
        long failed = System.nanoTime();
        List<Tree> killed = new PowerLoss(scene, tally, random, extent.singles, extent.subsets,
                extent.shareWrittenOver).run(log);
        long replayed = System.nanoTime();
        for (Tree left : some(killed, extent.nextWriters, random)) {
            Scene next;
            try {
                next = scene.behind(left);
            } catch (Exception e) {
                tally.lose("behind a writer that left " + left.entries().keySet(), "the next one fails: " + e);
                continue;
            }
            new FailingCalls(next, tally).run(random, FAULTS_OF_NEXT_WRITER, 1);
            new PowerLoss(next, tally, random, Math.min(extent.singles, 2), 1, 0).run(log);
        }
        long stoppedTwice = System.nanoTime();
        if (extent.kills == ALL || seed % SCENES_PER_KILL == 0) {
            Kills kills = new Kills(scene, tally);
            List<Long> numbers = LongStream.rangeClosed(1, FailingCalls.calls(scene, Kind.ALL)).boxed().toList();
            for (long number : some(numbers, extent.kills, random)) {
                kills.kill(inputs, number, random.nextBoolean() ? Action.KILL_BEFORE : Action.KILL_AFTER);
            }
        }
        System.err.printf("%s: %d + %d + %d + %d ms%n", scene, (failed - begin) / 1_000_000,
                (replayed - failed) / 1_000_000, (stoppedTwice - replayed) / 1_000_000,
                (System.nanoTime() - stoppedTwice) / 1_000_000);
        return tally;
    }

    private static <T> List<T> some(List<T> all, int most, SplittableRandom random) {
        return all.size() <= most ? all
                : random.ints(0, all.size()).distinct().limit(most).sorted().mapToObj(all::get).toList();
    }

    private static void print(Tally tally) {
        List<String> fields = new ArrayList<>(List.of("tally", tally.scene()));
        COUNTS.forEach(what -> fields.add(Long.toString(tally.count(what))));
        fields.add(Integer.toString(tally.losses().size()));
        System.out.println(String.join("\t", fields));
        tally.losses().forEach(loss -> System.out.println("loss\t" + loss.replace("\n", " ")));
    }
}
