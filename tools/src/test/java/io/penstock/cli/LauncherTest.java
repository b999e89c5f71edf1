// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.FormatJar;
import io.penstock.testing.Modules;
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.example.format.TokProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The launcher script, in a folder laid out as a checkout whose build is done. */
@Timeout(1200)
@EnabledOnOs({OS.LINUX, OS.MAC})
class LauncherTest {

    @TempDir
    static Path checkout;

    @TempDir
    Path elsewhere;

    @BeforeAll
    static void layOut() throws IOException {
        Files.copy(Path.of("penstock"), checkout.resolve("penstock"),
                StandardCopyOption.COPY_ATTRIBUTES);
        Files.createDirectories(checkout.resolve("src/main"));
        Files.createDirectories(checkout.resolve("target"));
        Path lib = Files.createDirectories(checkout.resolve("tools/target/lib"));
        Path jar = checkout.resolve("tools/target/penstock-tools-test.jar");
        for (Path folder : Modules.FOLDERS) {
            write(folder.equals(Path.of("tools")) ? jar : lib.resolve("penstock-" + folder + ".jar"),
                    folder.resolve("target/classes"));
        }
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (entry.endsWith(".jar") && entry.matches(".*(picocli|jtokkit|zstd-jni).*")) {
                Files.copy(Path.of(entry), lib.resolve(Path.of(entry).getFileName()));
            }
        }
        Path stamp = Files.writeString(checkout.resolve("target/.penstock-built"), jar + "\n");
        Files.setLastModifiedTime(stamp, FileTime.fromMillis(System.currentTimeMillis() + 10_000));
    }

    private static void write(Path jar, Path classes) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar); JarOutputStream jarOut = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                jarOut.putNextEntry(new JarEntry(classes.relativize(file).toString().replace(File.separatorChar, '/')));
                Files.copy(file, jarOut);
            }
        }
    }

    @Test
    void runsFromAnotherFolder() throws Exception {
        CommandRun run = launch(Map.of(), checkout.resolve("penstock"), "--version");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith("penstock ") && run.out().contains(" on Java "), run.out());
        assertEquals("", run.err());
    }

    /** The default of containers, and a locale that is not installed: both leave Java with ASCII. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void namesBeyondAsciiCanBeGivenWithoutALocale() throws Exception {
        Path text = Files.writeString(elsewhere.resolve("\u6570\u636e.txt"), "x");
        for (String locale : List.of("C", "POSIX", "xx_XX.UTF-8")) {
            CommandRun run = launch(Map.of("LC_ALL", locale), checkout.resolve("penstock"), "inspect", "--format",
                    "raw", "--dtype", "u8", text.toString());
            assertEquals(0, run.exitCode(), locale + ": " + run.err());
            assertTrue(run.out().startsWith(text.toString()), run.out());
        }
    }

    /** A program of the user too: its files beyond ASCII, and what it prints. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aProgramHasUtf8WithoutALocale() throws Exception {
        Path program = Files.writeString(elsewhere.resolve("Names.java"), """
                void main() {
                    IO.println(java.nio.file.Path.of("gr\u00fcn.bin").toAbsolutePath());
                }
                """);
        for (String locale : List.of("C", "POSIX", "xx_XX.UTF-8")) {
            CommandRun run = launch(Map.of("LC_ALL", locale), checkout.resolve("penstock"), "java",
                    program.toString());
            assertEquals(0, run.exitCode(), locale + ": " + run.err());
            assertEquals(elsewhere.toRealPath().resolve("gr\u00fcn.bin") + "\n", run.out(), locale);
        }
    }

    @Test
    void aWarningIsALine() throws Exception {
        Path pictures = Files.createDirectories(elsewhere.resolve("pictures/cats"));
        ImageIO.write(new BufferedImage(8, 8, BufferedImage.TYPE_INT_RGB), "png", pictures.resolve("0.png").toFile());
        Files.writeString(pictures.resolve("1.png"), "no picture");
        CommandRun run = launch(Map.of(), checkout.resolve("penstock"), "batches",
                elsewhere.resolve("pictures").toString(), "--image", "8x8", "--batch", "2", "--bad-samples", "skip");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.err().matches("WARNING: bad sample 1 skipped: [^\n]+\n"), run.err());
    }

    @Test
    void runsThroughLinks() throws Exception {
        Path relative = Files.createDirectories(checkout.resolve("bin")).resolve("stock");
        Files.createSymbolicLink(checkout.resolve("hop"), checkout.resolve("penstock"));
        Files.createSymbolicLink(relative, Path.of("../hop"));
        CommandRun run = launch(Map.of(), relative, "--version");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith("penstock "), run.out());
    }

    /** As {@code penstock new trainer my-trainer} in the clone leaves one. */
    @Test
    void aProjectOfTheUserInTheFolderIsNoReasonToBuild() throws Exception {
        Path sources = Files.createDirectories(checkout.resolve("my-trainer/src/main"));
        Path pom = Files.writeString(checkout.resolve("my-trainer/pom.xml"), "<project/>");
        FileTime later = FileTime.fromMillis(System.currentTimeMillis() + 3_600_000);
        Files.setLastModifiedTime(Files.writeString(sources.resolve("Trainer.java"), "class Trainer { }"), later);
        Files.setLastModifiedTime(pom, later);
        CommandRun run = launch(Map.of(), checkout.resolve("penstock"), "--version");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("", run.err());
    }

    @Test
    void passesArgumentsAndTheExitStatusOn() throws Exception {
        CommandRun run = launch(Map.of(), checkout.resolve("penstock"), "inspect", "no such store");
        assertEquals(3, run.exitCode());
        assertEquals("penstock: no such store: no such file\n", run.err());
    }

    /** A short command runs with flags of its own, unless the user has some. */
    @Test
    void aShortCommandSaysTheSameWithItsFlagsAndWithout() throws Exception {
        byte[] tokens = new byte[4096];
        for (int i = 0; i < tokens.length; i += 2) {
            tokens[i] = (byte) (i * 31 >> 3);
        }
        String file = Files.write(elsewhere.resolve("tokens.bin"), tokens).toString();
        for (String command : List.of("inspect", "explain --window 16 --batch 4 --step 1000000000")) {
            String[] args = (command + " --format nanogpt --json " + file).split(" ");
            CommandRun run = launch(Map.of(), checkout.resolve("penstock"), args);
            assertEquals(0, run.exitCode(), run.err());
            assertEquals(run, launch(Map.of("PENSTOCK_JAVA_OPTS", "-Xmx256m"), checkout.resolve("penstock"), args));
        }
    }

    @Test
    void readsAFormatOfAJarThatIsNamed() throws Exception {
        Path jar = FormatJar.write(elsewhere.resolve("tok.jar"), TokProvider.class);
        Path tokens = Files.write(elsewhere.resolve("x.tok"), new byte[64]);
        CommandRun run = launch(Map.of("PENSTOCK_CLASS_PATH", jar.toString()), checkout.resolve("penstock"), "inspect",
                tokens.toString(), "--json");
        assertEquals("tok", run.json().get("kind"), run.err());
        assertEquals(3, launch(Map.of(), checkout.resolve("penstock"), "inspect", tokens.toString()).exitCode());
    }

    @Test
    void namesAJdkThatIsToldAndIsNone() throws Exception {
        CommandRun run = launch(Map.of("PENSTOCK_JAVA_HOME", elsewhere.toString()), checkout.resolve("penstock"));
        assertEquals(1, run.exitCode());
        assertTrue(run.err().startsWith("penstock: PENSTOCK_JAVA_HOME is " + elsewhere + ", expected a JDK "),
                run.err());
    }

    @Test
    void aJavaHomeThatIsTooOldIsPassedOver() throws Exception {
        Path old = elsewhere.resolve("jdk-17");
        for (String tool : List.of("java", "javac")) {
            Path file = Files.createDirectories(old.resolve("bin")).resolve(tool);
            Files.writeString(file, "#!/bin/sh\necho too old; exit 9\n");
            assertTrue(file.toFile().setExecutable(true));
        }
        Files.writeString(old.resolve("release"), "JAVA_VERSION=\"17.0.1\"\n");
        String bin = Path.of(System.getProperty("java.home"), "bin").toString();
        CommandRun run = launch(Map.of("PENSTOCK_JAVA_HOME", "", "JAVA_HOME", old.toString(),
                "PATH", bin + ":/usr/bin:/bin"), checkout.resolve("penstock"), "--version");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith("penstock "), run.out());
    }

    @Test
    void tellsTheStepsOfABuildAndWhyItFailedAndLeavesNoLock() throws Exception {
        Path unbuilt = Files.createDirectories(elsewhere.resolve("unbuilt"));
        Files.copy(Path.of("penstock"), unbuilt.resolve("penstock"), StandardCopyOption.COPY_ATTRIBUTES);
        Path tools = Files.createDirectories(elsewhere.resolve("tools"));
        Files.writeString(tools.resolve("mvn"), """
                #!/bin/sh
                echo "[INFO] Downloading from central: one"
                echo "[INFO] Downloading from central: two"
                echo "[INFO] --- compiler:3.15.0:compile (default-compile) @ penstock ---"
                echo "in $PWD with $JAVA_HOME: $*"; exit 1
                """);
        assertTrue(tools.resolve("mvn").toFile().setExecutable(true));
        String jdk = System.getProperty("java.home");
        Path root = unbuilt.toRealPath();
        for (int attempt = 0; attempt < 2; attempt++) {
            CommandRun run = launch(Map.of("PATH", tools + ":/usr/bin:/bin"), unbuilt.resolve("penstock"), "--version");
            assertEquals(1, run.exitCode());
            assertEquals("penstock: building once, which takes one to three minutes, with " + jdk + "\n"
                    + "penstock:   Maven fetches its plugins and the libraries ...\n"
                    + "penstock:   compiling, the longest step ...\n"
                    + "in " + root + " with " + jdk
                    + ": -B -Dstyle.color=never -Dmaven.test.skip=true package -pl tools -am\n"
                    + "penstock: the build failed, see above, and " + root
                    + "/target/.penstock-building.log for all of it\n", run.err());
            assertTrue(Files.notExists(unbuilt.resolve("target/.penstock-building")));
        }
    }

    @Test
    void quickstartRunsTheMainJobAndLeavesNothing() throws Exception {
        Path temporary = Files.createDirectories(elsewhere.resolve("tmp"));
        CommandRun run = launch(Map.of("PENSTOCK_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary + " -Xmx256m"),
                checkout.resolve("penstock"), "quickstart");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("", run.err());
        for (String part : List.of("64,816 tokens of u16 in 123 documents (gpt2) from 4 files",
                "tokens: u16 [64816]", "device   ", "500 steps in ", "tokens/s", "Next:\n", "./penstock stream out ")) {
            assertTrue(run.out().contains(part), () -> part + " is not in:\n" + run.out());
        }
        try (Stream<Path> left = Files.list(temporary)) {
            assertEquals(List.of(), left.filter(path -> path.toString().contains("quickstart")).toList());
        }
    }

    @Tag("slow")
    @Test
    void makesACacheOnceAndGoesWithoutItWhenItDoesNotFit() throws Exception {
        Path target = checkout.resolve("target");
        Path cache = target.resolve("penstock.aot");
        Path stamp = target.resolve(".penstock-aot");
        Map<String, String> on = Map.of("PENSTOCK_AOT", "on");
        CommandRun first = launch(on, checkout.resolve("penstock"), "--version");
        assertEquals("", first.err());
        assertTrue(Files.size(cache) > 1 << 20, "a cache of " + Files.size(cache) + " bytes");
        FileTime made = Files.getLastModifiedTime(cache);
        assertEquals(first, launch(on, checkout.resolve("penstock"), "--version"));
        assertEquals(made, Files.getLastModifiedTime(cache));
        CommandRun loaded = launch(Map.of("PENSTOCK_AOT", "on", "PENSTOCK_JAVA_OPTS", "-Xlog:class+load"),
                checkout.resolve("penstock"), "--version");
        for (String type : List.of("io.penstock.cli.Penstock", "picocli.CommandLine")) {
            assertTrue(loaded.out().contains(type + " source: shared objects file"), loaded.out());
        }

        Files.write(cache, new byte[4096]);
        assertEquals(first, launch(on, checkout.resolve("penstock"), "--version"), "a cache that is none");
        Files.delete(cache);
        assertEquals(first, launch(on, checkout.resolve("penstock"), "--version"), "a cache that is gone");
        assertTrue(Files.notExists(cache), "it is tried once");

        Files.writeString(stamp, "/another/jdk\n");
        assertEquals(first, launch(on, checkout.resolve("penstock"), "--version"));
        assertTrue(Files.exists(cache), "another JDK wants another cache");
        try (Stream<Path> left = Files.list(target)) {
            assertEquals(List.of(), left.filter(file -> file.toString().contains(".aot.")).toList());
        }
    }

    private CommandRun launch(Map<String, String> environment, Path script, String... args)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(args));
        Path err = elsewhere.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command).directory(elsewhere.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PENSTOCK_"));
        builder.environment().put("PENSTOCK_JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("PENSTOCK_AOT", "off");
        builder.environment().putAll(environment);
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new CommandRun(process.waitFor(), out, Files.readString(err));
    }
}
