// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.io.publish.UnnamedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What Jazzer calls, in a process of its own, and what replays an input in the tests' process. */
public final class FuzzDriver {

    /** Names the folder that inputs are written to. */
    static final String FOLDER_PROPERTY = "penstock.fuzz.folder";

    private static final int INPUTS_PER_LEAK_CHECK = 4096;

    private static FuzzTargets targets;
    private static Path folder;
    private static int inputs;

    private FuzzDriver() {
    }

    /**
     * Called once.
     *
     * @param arguments how many inputs each target runs at most, then the names of the targets' classes
     */
    public static void fuzzerInitialize(String[] arguments) {
        targets = new FuzzTargets(List.of(arguments).subList(1, arguments.length), Long.parseLong(arguments[0]));
        folder = Path.of(System.getProperty(FOLDER_PROPERTY));
        System.setProperty(UnnamedFile.FOLDER_PROPERTY, folder.toString());
    }

    /**
     * Called for every input.
     *
     * @param input the bytes
     * @throws IOException if an input cannot be written
     */
    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        targets.run(input, folder);
        if (++inputs % INPUTS_PER_LEAK_CHECK == 0) {
            requireNothingOpen(folder);
        }
    }

    /** Called at the end: says what was run. */
    public static void fuzzerTearDown() {
        System.err.print(targets.summary());
    }

    /** Runs one input, and looks for what it leaves open. */
    static void replay(FuzzTarget target, byte[] input, Path folder) throws IOException {
        target.run(input, folder);
        requireNothingOpen(folder);
    }

    /** Fails if a file of the folder is still open or mapped; Linux tells, elsewhere this is no check. */
    private static void requireNothingOpen(Path folder) throws IOException {
        Path maps = Path.of("/proc/self/maps");
        if (!Files.exists(maps)) {
            return;
        }
        try (Stream<String> lines = Files.lines(maps)) {
            lines.filter(line -> line.contains(folder.toString())).findAny().ifPresent(line -> {
                throw new AssertionError("still mapped: " + line);
            });
        }
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                if (Files.isSymbolicLink(descriptor) && opens(descriptor, folder)) {
                    throw new AssertionError("still open: " + Files.readSymbolicLink(descriptor));
                }
            }
        }
    }

    private static boolean opens(Path descriptor, Path folder) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(folder);
        } catch (IOException _) {
            return false; // closed since it was listed
        }
    }
}
