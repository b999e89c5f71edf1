// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The committed fatbin is the build of the committed sources. */
@Tag("slow")
class KernelBuildTest {
    private static final Path SOURCES = Path.of("src/main/native");
    private static final Path BUILD = Path.of("src/main/resources/io/penstock/device/cuda");
    private static final String FATBIN = "kernels.fatbin";
    private static final String MANIFEST = "kernels.sha256";
    private static final List<String> ARCHITECTURES = List.of("75", "80", "86", "89", "90", "100", "120");
    private static final String ADVICE = "run src/main/native/build.sh and commit what it writes";

    @Test
    void theManifestNamesTheSourcesAndTheFatbinAsTheyAre() throws Exception {
        Map<String, String> listed = new TreeMap<>();
        for (String line : Files.readAllLines(BUILD.resolve(MANIFEST))) {
            if (!line.startsWith("#")) {
                listed.put(line.substring(66), line.substring(0, 64));
            }
        }
        Map<String, String> found = new TreeMap<>(Map.of(FATBIN, sha256(BUILD.resolve(FATBIN))));
        try (Stream<Path> files = Files.list(SOURCES)) {
            for (Path file : files.toList()) {
                found.put(file.getFileName().toString(), sha256(file));
            }
        }
        assertEquals(listed, found, ADVICE);
    }

    @Test
    void theFatbinIsWhole() throws IOException {
        byte[] fatbin = Files.readAllBytes(BUILD.resolve(FATBIN));
        assertArrayEquals(fatbin, FatbinHeader.check(fatbin, FATBIN));
    }

    @Test
    void theFatbinHasCodeForEveryArchitectureThatTheManifestNames() throws IOException {
        Set<String> expected = new TreeSet<>(Set.of("ptx 75"));
        ARCHITECTURES.forEach(architecture -> expected.add("sm " + architecture));
        assertEquals(expected, entries(BUILD).keySet());
        assertEquals("# sm " + String.join(" ", ARCHITECTURES) + ", ptx 75",
                Files.readAllLines(BUILD.resolve(MANIFEST)).get(1));
    }

    /**
     * Compiling for an architecture takes seconds. So a build compiles for one of them, by chance, and
     * {@code -Dpenstock.architectures} says for which instead, separated by blanks, or {@code all}.
     */
    @Test
    void theSameCompilerGivesTheSameBytes() throws Exception {
        String compiler = Files.readAllLines(BUILD.resolve(MANIFEST)).getFirst();
        String present = run("nvcc", "--version");
        assumeTrue(present.contains("V" + compiler.substring("# nvcc ".length())), "committed: " + compiler
                + ", here: " + present.lines().toList().getLast());
        String asked = System.getProperty("penstock.architectures",
                ARCHITECTURES.get(ThreadLocalRandom.current().nextInt(ARCHITECTURES.size())));
        List<String> architectures = asked.equals("all") ? ARCHITECTURES : List.of(asked.split(" "));
        Path folder = Path.of("target/native/rebuild").toAbsolutePath();
        assertEquals("", run(SOURCES.resolve("build.sh").toString(), folder.toString(),
                String.join(" ", architectures)));
        Map<String, byte[]> committed = entries(BUILD);
        Map<String, byte[]> built = entries(folder);
        assertEquals(architectures.size() + 1, built.size());
        built.forEach((code, bytes) -> assertArrayEquals(committed.get(code), bytes, code + ": " + ADVICE));
        if (architectures.equals(ARCHITECTURES)) {
            for (String file : List.of(MANIFEST, FATBIN)) {
                assertArrayEquals(Files.readAllBytes(BUILD.resolve(file)), Files.readAllBytes(folder.resolve(file)),
                        file + ": " + ADVICE);
            }
        }
    }

    /** An entry: u16 kind (1 PTX, 2 machine code), u16, u32 header bytes, u64 body bytes, …, u32 architecture at 28. */
    private static Map<String, byte[]> entries(Path folder) throws IOException {
        byte[] bytes = Files.readAllBytes(folder.resolve(FATBIN));
        ByteBuffer fatbin = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Map<String, byte[]> entries = new TreeMap<>();
        int end;
        for (int at = 16; at < bytes.length; at = end) {
            end = at + fatbin.getInt(at + 4) + (int) fatbin.getLong(at + 8);
            entries.put((fatbin.getShort(at) == 1 ? "ptx " : "sm ") + fatbin.getInt(at + 28),
                    Arrays.copyOfRange(bytes, at, end));
        }
        return entries;
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return abort("no " + command[0] + ": " + e.getMessage());
        }
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    private static String sha256(Path file) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    }
}
