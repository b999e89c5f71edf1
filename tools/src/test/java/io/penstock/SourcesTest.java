// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What {@code .editorconfig} asks of our Java sources, and what no source of the project may speak of. */
class SourcesTest {

    private static final int MAX_COLUMNS = 120;
    private static final Pattern NOT_OURS =
            Pattern.compile("/home/[a-z]+/[a-z.]+/|/root/|/Users/[a-z]|\\bTODO\\b|\\bFIXME\\b");

    @Test
    void javaSourcesAreSpacesLinesOf120AndOneFinalNewline() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Path file : files(".java")) {
            String text = Files.readString(file);
            if (!text.endsWith("\n") || text.endsWith("\n\n") || text.contains("\r")) {
                wrong.add(file + ": line ends");
            }
            int number = 0;
            for (String line : text.lines().toList()) {
                number++;
                if (line.length() > MAX_COLUMNS || line.contains("\t") || line.endsWith(" ")) {
                    wrong.add(file + ":" + number);
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void nothingNamesTheMachineItWasWrittenOnOrPutsThingsOff() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (String ending : List.of(".java", ".md", ".c", ".h", ".cu", ".cuh", ".py", ".sh")) {
            for (Path file : files(ending)) {
                if (!file.endsWith("SourcesTest.java") && NOT_OURS.matcher(Files.readString(file)).find()) {
                    wrong.add(file.toString());
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static List<Path> files(String ending) throws IOException {
        List<Path> found = new ArrayList<>();
        for (String root : List.of("src", "pictures/src", "remote/src", "diagnosis/src", "tools/src", "bench/java",
                "bench/gpu", "bench/native", "bench/peers", "docs", "examples")) {
            try (Stream<Path> all = Files.walk(Path.of(root))) {
                all.filter(file -> file.toString().endsWith(ending) && !file.toString().contains("fixtures"))
                        .forEach(found::add);
            }
        }
        return found;
    }
}
