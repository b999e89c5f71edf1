// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The committed fatbin is the build of the committed sources. */
class KernelBuildTest {

    private static final Path SOURCES = Path.of("src/main/cuda");
    private static final Path BUILD = Path.of("src/main/resources/io/penstock/examples/gpt");
    private static final String ADVICE = "run src/main/cuda/build.sh and commit what it writes";

    @TempDir
    private Path folder;

    @Test
    void theManifestNamesTheSourcesAndTheFatbinAsTheyAre() throws Exception {
        List<String> found = new ArrayList<>();
        for (Path file : List.of(SOURCES.resolve("build.sh"), SOURCES.resolve("gpt.cu"),
                BUILD.resolve("gpt.fatbin"))) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
            found.add(HexFormat.of().formatHex(digest) + "  " + file.getFileName());
        }
        List<String> listed = Files.readAllLines(BUILD.resolve("gpt.sha256"));
        assertEquals(listed.subList(1, listed.size()), found, ADVICE);
    }

    /** Also of what the sources include from the engine. */
    @Test
    @Tag("slow")
    void theSameCompilerGivesTheSameBytes() throws IOException, InterruptedException {
        String compiler = Files.readAllLines(BUILD.resolve("gpt.sha256")).getFirst();
        assumeTrue(run("nvcc", "--version").contains("V" + compiler.substring("# nvcc ".length())), compiler);
        assertEquals("", run(SOURCES.resolve("build.sh").toString(), folder.toString()));
        assertEquals(-1, Files.mismatch(BUILD.resolve("gpt.fatbin"), folder.resolve("gpt.fatbin")), ADVICE);
    }

    private static String run(String... command) throws IOException, InterruptedException {
        try {
            return SimulatedGpu.run(0, new ProcessBuilder(command).redirectErrorStream(true));
        } catch (IOException e) {
            return abort("no " + command[0] + ": " + e.getMessage());
        }
    }
}
