// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Follows {@code docs/howto/format.md}: writes its files, builds its jar, and gets what it shows. */
@Tag("slow")
@Timeout(1200)
class FormatTutorialTest {

    private static final Pattern PROGRAM = Pattern.compile("cat > (\\S+) <<'END'\n(.*?\n)END\n", Pattern.DOTALL);
    private static final Pattern SOURCE = Pattern.compile("`(\\S+\\.java)`:\n\n```java\n(.*?)```\n", Pattern.DOTALL);
    private static final Pattern NAME = Pattern.compile("echo (\\S+) > classes/(META-INF/services/\\S+)\n");
    private static final Pattern SHOWN = Pattern.compile("```sh\npenstock ([^\n]*)\n```\n\n```text\n(.*?)```\n",
            Pattern.DOTALL);

    @TempDir
    static Path folder;
    private static String page;
    private static Path jar;

    @BeforeAll
    static void buildTheJar() throws IOException, InterruptedException {
        page = Files.readString(Path.of("docs/howto/format.md"));
        MatchResult program = first(PROGRAM);
        Files.writeString(folder.resolve(program.group(1)), program.group(2));
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process writing = new ProcessBuilder(java.toString(), program.group(1)).directory(folder.toFile())
                .redirectErrorStream(true).start();
        String said = new String(writing.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, writing.waitFor(), said);

        MatchResult source = first(SOURCE);
        Path file = folder.resolve(source.group(1));
        Files.createDirectories(file.getParent());
        Files.writeString(file, source.group(2));
        Path classes = Files.createDirectories(folder.resolve("classes/META-INF/services")).getParent().getParent();
        assertEquals(0, tool("javac", "-d", classes, "-cp", JavaCommand.classPath(), file));
        MatchResult name = first(NAME);
        Files.writeString(classes.resolve(name.group(2)), name.group(1) + "\n");
        jar = folder.resolve("rows.jar");
        assertEquals(0, tool("jar", "--create", "--file", jar, "-C", classes, "."));
    }

    private static MatchResult first(Pattern pattern) {
        Matcher found = pattern.matcher(page);
        assertTrue(found.find(), pattern.pattern());
        return found.toMatchResult();
    }

    private static int tool(String name, Object... args) {
        return ToolProvider.findFirst(name).orElseThrow().run(System.out, System.err, List.of(args).stream()
                .map(Object::toString).toArray(String[]::new));
    }

    @Test
    void theCommandsPrintWhatThePageShows() throws IOException, InterruptedException {
        List<MatchResult> shown = SHOWN.matcher(page).results().toList();
        assertEquals(3, shown.size());
        for (MatchResult one : shown) {
            Object[] args = List.of(one.group(1).split(" ")).stream().map(word -> word.endsWith(".row")
                    ? folder.resolve(word).toString() : word).toArray();
            CommandRun run = CommandRun.onClassPath(JavaCommand.classPath() + File.pathSeparator + jar, args);
            assertEquals(one.group(2), (run.out() + run.err()).replace(folder + File.separator, ""), one.group(1));
        }
    }
}
