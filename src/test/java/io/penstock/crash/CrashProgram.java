package io.penstock.crash;

import io.penstock.crash.CallShim.Action;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The program into which the shim is loaded: puts writers to all trials, and prints a line {@code tally} with counts a
 * scene, and a line {@code loss} each time that something was lost.
 */
final class CrashProgram {

    /** How much is tried. */
    enum Extent {
        /** What fits a build. */
        BOUNDED(0.1, 2, 0.1, 1),
        /** Every call in every way. */
        WHOLE(1, 24, 1, Integer.MAX_VALUE);

        private final double share;
        private final int subsets;
        private final double shareWrittenOver;
        private final int kills;

        Extent(double share, int subsets, double shareWrittenOver, int kills) {
            this.share = share;
            this.subsets = subsets;
            this.shareWrittenOver = shareWrittenOver;
            this.kills = kills;
        }
    }

    static final List<String> COUNTS = List.of("calls", "kills", "prefixes", "states", "different");

    private CrashProgram() {
    }

    /**
     * Runs.
     *
     * @param args {@code try EXTENT SEED PART PARTS ONLY}, or {@code mutants SEED}, or what {@link Kills} gives
     */
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "try" -> attempt(Extent.valueOf(args[1]), Long.parseLong(args[2]), Integer.parseInt(args[3]),
                    Integer.parseInt(args[4]), args[5]);
            case "die" -> {
                Writer writer = Writers.of(Path.of(args[1])).stream().filter(one -> one.name().equals(args[2]))
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
            List<Writer> writers = Writers.of(inputs);
            for (int i = part; i < 2 * writers.size(); i += parts) {
                Writer writer = writers.get(i / 2);
                if (writer.name().matches(only)) {
                    print(attempt(extent, seed + i, new Scene(writer, i % 2 == 1, work.resolve("w")), inputs));
                }
            }
        } finally {
            Tree.clear(work);
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
        new FailingCalls(scene, tally).run(random, extent.share);
        long failed = System.nanoTime();
        new PowerLoss(scene, tally, random, extent.subsets, extent.shareWrittenOver)
                .run(inputs.resolveSibling("log"));
        long replayed = System.nanoTime();
        Kills kills = new Kills(scene, tally);
        long calls = kills.calls();
        if (extent.kills >= calls) {
            for (long call = 1; call <= calls; call++) {
                kills.kill(inputs, call, Action.KILL_BEFORE);
            }
            kills.kill(inputs, calls, Action.KILL_AFTER);
        } else {
            for (int k = 0; k < extent.kills; k++) {
                kills.kill(inputs, random.nextLong(1, calls + 1),
                        random.nextBoolean() ? Action.KILL_BEFORE : Action.KILL_AFTER);
            }
        }
        System.err.printf("%s: %d + %d + %d ms%n", scene, (failed - begin) / 1_000_000,
                (replayed - failed) / 1_000_000, (System.nanoTime() - replayed) / 1_000_000);
        return tally;
    }

    private static void print(Tally tally) {
        List<String> fields = new ArrayList<>(List.of("tally", tally.scene()));
        COUNTS.forEach(what -> fields.add(Long.toString(tally.count(what))));
        fields.add(Integer.toString(tally.losses().size()));
        System.out.println(String.join("\t", fields));
        tally.losses().forEach(loss -> System.out.println("loss\t" + loss.replace("\n", " ")));
    }
}
