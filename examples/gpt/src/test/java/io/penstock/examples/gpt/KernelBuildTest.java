// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The committed fatbin is the build of the committed sources. */
class KernelBuildTest {

    private static final Path SOURCES = Path.of("src/main/cuda");
    private static final Path BUILD = Path.of("src/main/resources/io/penstock/examples/gpt");

    @Test
    void theManifestNamesTheSourcesAndTheFatbinAsTheyAre() throws Exception {
        List<String> found = new ArrayList<>();
        for (Path file : List.of(SOURCES.resolve("build.sh"), SOURCES.resolve("gpt.cu"),
                Path.of("../../src/main/native/kernel.cuh"), BUILD.resolve("gpt.fatbin"))) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
            found.add(HexFormat.of().formatHex(digest) + "  " + file.getFileName());
        }
        List<String> listed = Files.readAllLines(BUILD.resolve("gpt.sha256"));
        assertEquals(listed.subList(1, listed.size()), found, "run src/main/cuda/build.sh and commit what it writes");
    }
}
