// SPDX-License-Identifier: Apache-2.0
package io.penstock.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables of the documents have as many cells in each row, and links lead somewhere. */
class MarkdownTest {

    private static final Set<String> NOT_OURS = Set.of("target", ".git", "node_modules");
    private static final Pattern LINK = Pattern.compile("\\[[^\\]\\[]*\\]\\(([^)\\s]+)\\)");
    private static final Pattern RULE = Pattern.compile("\\|(?: *:?-+:? *\\|)+");
    private static final Pattern CODE = Pattern.compile("`[^`]*`");

    /** All documents of the repository. */
    static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(""))) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> !NOT_OURS.contains(file.getName(0).toString())).sorted().toList();
        }
    }

    @Test
    void rowsOfATableHaveAsManyCells() throws IOException {
        List<String> faults = new ArrayList<>();
        for (Path file : files()) {
            faults.addAll(tableFaults(file));
        }
        assertEquals("", String.join("\n", faults));
    }

    @Test
    void linksLeadToFilesAndHeadings() throws IOException {
        List<String> faults = new ArrayList<>();
        for (Path file : files()) {
            faults.addAll(linkFaults(file));
        }
        assertEquals("", String.join("\n", faults));
    }

    @Test
    void faultsAreNamed(@TempDir Path folder) throws IOException {
        Path page = folder.resolve("page.md");
        Files.writeString(page, """
                # A `Page`: its links

                [self](#a-page-its-links) [file](page.md) [both](page.md#twice-1) [out](https://example.org/#x)
                [lost](none.md) [gone](#none) `[no](link.md)`

                ## Twice
                ## Twice

                | a | b |
                |---|---|
                | `x \\| y` | 2 |
                | `x | y` | 2 |
                | 1 |

                | 1 | 2 |

                ```
                | not | a | table
                |---|
                [not](a-link)
                ```
                """);
        assertEquals(List.of(page + ":4: no file none.md", page + ":4: no heading none in page.md"), linkFaults(page));
        assertEquals(List.of(page + ":12: 3 cells, expected 2", page + ":13: 1 cells, expected 2",
                page + ":15: a table without a rule below its heads"), tableFaults(page));
    }

    @Test
    void thereAreDocuments() throws IOException {
        assertTrue(files().contains(Path.of("README.md")) && files().size() > 20, files()::toString);
    }

    private static List<String> tableFaults(Path file) throws IOException {
        List<String> faults = new ArrayList<>();
        int columns = 0;
        List<String> lines = prose(file);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.startsWith("|") || lines.get(i).startsWith("    ")) {
                columns = 0;
                continue;
            }
            String row = line.endsWith("|") ? line.substring(1, line.length() - 1) : line.substring(1);
            int cells = row.replace("\\|", "").split("\\|", -1).length;
            if (columns == 0 && !(i + 1 < lines.size() && RULE.matcher(lines.get(i + 1).strip()).matches())) {
                faults.add(file + ":" + (i + 1) + ": a table without a rule below its heads");
            }
            columns = columns == 0 ? cells : columns;
            if (cells != columns) {
                faults.add(file + ":" + (i + 1) + ": " + cells + " cells, expected " + columns);
            }
        }
        return faults;
    }

    private static List<String> linkFaults(Path file) throws IOException {
        List<String> faults = new ArrayList<>();
        List<String> lines = prose(file);
        for (int i = 0; i < lines.size(); i++) {
            Matcher link = LINK.matcher(CODE.matcher(lines.get(i)).replaceAll("code"));
            while (link.find()) {
                String target = link.group(1);
                String path = target.replaceFirst("#.*", "");
                Path linked = path.isEmpty() ? file : file.resolveSibling(path).normalize();
                if (target.matches("[a-z]+:.*")) {
                    continue;
                }
                if (!Files.exists(linked)) {
                    faults.add(file + ":" + (i + 1) + ": no file " + path);
                } else if (target.contains("#") && linked.toString().endsWith(".md")) {
                    String anchor = target.substring(target.indexOf('#') + 1);
                    if (!anchors(linked).contains(anchor)) {
                        faults.add(file + ":" + (i + 1) + ": no heading " + anchor + " in " + linked.getFileName());
                    }
                }
            }
        }
        return faults;
    }

    /** Headings as GitHub names them. */
    private static Set<String> anchors(Path file) throws IOException {
        Set<String> anchors = new HashSet<>();
        for (String line : prose(file)) {
            if (line.startsWith("#")) {
                String anchor = line.replaceFirst("^#+ *", "").replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1").strip()
                        .toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
                int times = 0;
                for (String name = anchor; !anchors.add(name); name = anchor + "-" + times) {
                    times++;
                }
            }
        }
        return anchors;
    }

    /** The lines of a file, those of fenced code as empty ones. */
    static List<String> prose(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        boolean isCode = false;
        for (String line : Files.readAllLines(file)) {
            boolean isFence = line.strip().startsWith("```");
            lines.add(isCode || isFence ? "" : line);
            isCode ^= isFence;
        }
        return lines;
    }
}
