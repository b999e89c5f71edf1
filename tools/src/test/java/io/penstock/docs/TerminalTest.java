// SPDX-License-Identifier: Apache-2.0
package io.penstock.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.CommandRun;
import io.penstock.diagnose.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pictures of a terminal in the README show what the commands print, apart from figures that vary. With
 * {@code -Dpenstock.terminals=write} this test draws them anew.
 */
class TerminalTest {

    private static final Path IMAGES = Path.of("docs/images");
    private static final int COLUMNS = 98;
    private static final double CHARACTER = 7.2;
    private static final int LINE = 17;
    private static final String CUT = "…";

    @TempDir
    Path folder;

    /** The report is that of a recorded run, so it has the same figures each time; README beside it says of which. */
    @Test
    void aDiagnosis() throws IOException {
        Path run = Files.createDirectory(folder.resolve("run"));
        try (InputStream in = new GZIPInputStream(Objects.requireNonNull(
                TerminalTest.class.getResourceAsStream("terminal/final_summary.json.gz")))) {
            Files.copy(in, run.resolve(Summary.JSON_FILE));
        }
        CommandRun report = CommandRun.of("report", run);
        assertEquals(0, report.exitCode(), report.err());
        List<String> lines = new ArrayList<>(report.out().lines()
                .takeWhile(line -> !line.startsWith("| Waits")).toList());
        lines.addFirst("$ penstock report run");
        lines.set(lines.size() - 1, CUT);
        compareOrWrite(IMAGES.resolve("diagnosis.svg"), lines, "A report: the verdict, why, and what to do next");
    }

    @Test
    void theQuickstart() throws IOException {
        CommandRun run = CommandRun.of("quickstart");
        assertEquals(0, run.exitCode(), run.err());
        assumeTrue(run.out().contains("host (no CUDA device"), "the picture is of a machine without a GPU");
        List<String> lines = new ArrayList<>(List.of("$ ./penstock quickstart"));
        boolean isShown = true;
        for (String line : run.out().lines().takeWhile(line -> !line.startsWith("All files were deleted")).toList()) {
            if (line.startsWith("2. ")) {
                lines.add(line);
                lines.add("    " + CUT);
                isShown = false;
            } else if (line.isEmpty()) {
                isShown = true;
            }
            if (isShown) {
                lines.add(line.replaceFirst("^ +/.*/tokens: ", "    "));
            }
        }
        lines.removeLast();
        compareOrWrite(IMAGES.resolve("quickstart.svg"), lines,
                "The quickstart: text, tokens, batches, and how fast they come");
    }

    private static void compareOrWrite(Path picture, List<String> lines, String title) throws IOException {
        if ("write".equals(System.getProperty("penstock.terminals"))) {
            Files.writeString(picture, svg(lines, title));
        }
        String drawn = Files.readString(picture);
        assertTrue(drawn.contains("<title>" + title + "</title>"), picture::toString);
        String text = String.join("", drawn.lines().filter(line -> line.startsWith("<text"))
                .map(line -> line.replaceAll("<[^>]*>", "")).toList());
        assertEquals(comparable(String.join("", lines)),
                comparable(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")),
                picture + " shows something else than the command prints; see the Javadoc of this test");
    }

    /** Without blanks, since long lines are broken, and with figures and their units alike. */
    private static String comparable(String text) {
        return text.replaceAll("\\s+", "").replaceAll("\\d[\\d.,]*", "0")
                .replaceAll("0[kMG]?(tokens|samples|B)(?=[/\\s,;]|$)", "0$1");
    }

    private static String svg(List<String> lines, String title) {
        List<String> rows = new ArrayList<>();
        for (String line : lines) {
            String rest = line;
            while (rest.length() > COLUMNS) {
                int end = rest.lastIndexOf(' ', COLUMNS);
                rows.add(rest.substring(0, end));
                rest = "   " + rest.substring(end);
            }
            rows.add(rest);
        }
        int width = (int) (rows.stream().mapToInt(String::length).max().orElse(0) * CHARACTER) + 32;
        int height = rows.size() * LINE + 44;
        StringBuilder svg = new StringBuilder(String.format(Locale.ROOT, """
                <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" role="img">
                <title>%3$s</title>
                <style>
                text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
                  fill: #d6dde6; white-space: pre; }
                .command { fill: #8fd19e; font-weight: 600; } .bad { fill: #ff9d8a; } .note { fill: #86b7f5; }
                </style>
                <rect width="%1$d" height="%2$d" rx="8" fill="#161b22"/>
                <circle cx="18" cy="15" r="5" fill="#ff6057"/>
                <circle cx="36" cy="15" r="5" fill="#febc2e"/>
                <circle cx="54" cy="15" r="5" fill="#28c840"/>
                """, width, height, title));
        for (int i = 0; i < rows.size(); i++) {
            String row = rows.get(i);
            if (!row.isBlank()) {
                svg.append(String.format(Locale.ROOT, "<text x=\"16\" y=\"%d\"%s>%s</text>%n", 44 + i * LINE, look(row),
                        row.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")));
            }
        }
        return svg.append("</svg>\n").toString();
    }

    private static String look(String row) {
        return row.startsWith("$ ") ? " class=\"command\""
                : row.contains(" / CRITICAL") ? " class=\"bad\""
                : row.matches("\\d\\. .*|\\| .* / (INFO|WARNING) .*") ? " class=\"note\"" : "";
    }
}
