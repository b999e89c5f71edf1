// SPDX-License-Identifier: Apache-2.0
package io.penstock.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Modules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The form of sources, as far as it can be said in a few rules. */
class SourceFormTest {

    private static final int COLUMNS = 120;
    private static final String LICENSE = "SPDX-License-Identifier: Apache-2.0";
    private static final Set<String> SOURCES = Set.of("java", "py", "sh", "c", "cpp", "h", "cu");
    private static final List<Path> JAVA = Stream.of(Modules.sources(), Modules.tests(), List.of(Path.of("bench/java")))
            .flatMap(List::stream).toList();

    private static final Pattern BY_DEFAULT_LOCALE = Pattern.compile("String\\.format\\((?!\\s*Locale\\.ROOT)"
            + "|\\.printf\\((?!\\s*Locale\\.ROOT)|\\.format\\(\\s*\"|\\.formatted\\(|\\.to(Lower|Upper)Case\\(\\)"
            + "|new (Formatter|Scanner|DecimalFormat|SimpleDateFormat|MessageFormat)\\(|MessageFormat\\.format"
            + "|NumberFormat\\.get|Locale\\.getDefault|\\.ofPattern\\((?!.*Locale\\.ROOT)");

    /** All Java files below a folder. */
    static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
        }
    }

    @Test
    void linesAndImportsHaveTheForm() throws IOException {
        List<String> faults = new ArrayList<>();
        for (Path folder : JAVA) {
            List<Path> files = files(folder);
            assertTrue(files.size() > 2, folder + " has " + files.size() + " sources");
            for (Path file : files) {
                faults.addAll(faults(file.toString(), Files.readString(file)));
            }
        }
        assertEquals("", String.join("\n", faults));
    }

    /** Without a locale, digits and letters are those of the user's: a file is named x-\u06f0\u06f0.tar. */
    @Test
    void whatIsWrittenDoesNotDependOnTheLocale() throws IOException {
        List<String> faults = new ArrayList<>();
        int read = 0;
        for (String folder : List.of("src/main", "pictures/src/main", "remote/src/main", "diagnosis/src/main",
                "tools/src/main", "bench/java", "examples", "integrations")) {
            for (Path file : files(Path.of(folder))) {
                if (file.toString().contains("/src/test/") || file.toString().contains("/target/")) {
                    continue;
                }
                read++;
                String text = Files.readString(file);
                BY_DEFAULT_LOCALE.matcher(text).results().forEach(found -> faults.add(file + ":"
                        + (text.substring(0, found.start()).lines().count() + 1) + ": " + found.group()
                        + " without Locale.ROOT"));
            }
        }
        assertTrue(read > 900, "only " + read + " sources found");
        assertEquals("", String.join("\n", faults));
    }

    @Test
    void callsThatTakeTheDefaultLocaleAreFound() {
        for (String call : List.of("String.format(\"%d\", 1)", "String.format(\n        \"%d\", 1)",
                "out.printf(\"%d\", 1)",
                "out.format(\"%d\", 1)", "\"%d\".formatted(1)", "name.toLowerCase()", "new Formatter()",
                "NumberFormat.getInstance()", "DateTimeFormatter.ofPattern(\"uuuu\")")) {
            assertTrue(BY_DEFAULT_LOCALE.matcher(call).find(), call);
        }
        for (String call : List.of("String.format(Locale.ROOT, \"%d\", 1)", "out.printf(\n    Locale.ROOT, \"%d\", 1)",
                "name.toLowerCase(Locale.ROOT)", "DateTimeFormatter.ofPattern(\"uuuu\", Locale.ROOT)",
                "DateTimeFormatter.ISO_INSTANT.format(now)", "options.format()")) {
            assertFalse(BY_DEFAULT_LOCALE.matcher(call).find(), call);
        }
    }

    /** All of them or, before the first release, none. */
    @Test
    void sourcesNameTheirLicense() throws IOException {
        List<String> without = new ArrayList<>();
        int with = 0;
        for (String folder : List.of("src", "pictures/src", "remote/src", "diagnosis/src", "tools/src", "bench/java",
                "bench/gpu", "bench/native", "bench/peers", ".ci")) {
            try (Stream<Path> files = Files.walk(Path.of(folder))) {
                for (Path file : files.filter(SourceFormTest::isSource).sorted().toList()) {
                    try (Stream<String> lines = Files.lines(file)) {
                        if (lines.limit(3).anyMatch(line -> line.contains(LICENSE))) {
                            with++;
                        } else {
                            without.add(file.toString());
                        }
                    }
                }
            }
        }
        assertTrue(with + without.size() > 500, "only " + (with + without.size()) + " sources found");
        assertTrue(with == 0 || without.isEmpty(), () -> "no \"" + LICENSE + "\" in\n" + String.join("\n", without));
    }

    @Test
    void faultsAreNamed() {
        String text = """
                package a;

                import java.util.List;
                import java.util.*;
                import java.io.File;
                import static java.lang.Math.max;
                \tclass A {\s
                %s}
                // %s
                """.formatted("\n\n", "x".repeat(118));
        assertEquals(List.of(
                "A.java:7: a tab",
                "A.java:7: blanks at the end",
                "A.java:9: a second empty line",
                "A.java:11: 121 columns, expected at most 120",
                "A.java:4: an import with a wildcard",
                "A.java:4: this import before java.util.List",
                "A.java:5: this import before java.util.*",
                "A.java:6: static imports first, then an empty line"), faults("A.java", text));
        assertEquals(List.of(), faults("B.java", """
                package a;

                import static java.lang.Math.max;
                import static java.lang.Math.min;

                import java.io.File;
                import java.util.List;

                class B { }
                """));
        assertEquals(List.of("C.java: no line break at the end, or more than one"),
                faults("C.java", "class C { }\n\n"));
        assertEquals(List.of("D.java: a carriage return"), faults("D.java", "class D {\r\n}\n"));
    }

    private static List<String> faults(String file, String text) {
        List<String> faults = new ArrayList<>();
        if (text.indexOf('\r') >= 0) {
            faults.add(file + ": a carriage return");
        }
        if (!text.endsWith("\n") || text.endsWith("\n\n")) {
            faults.add(file + ": no line break at the end, or more than one");
        }
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            String place = file + ":" + (i + 1) + ": ";
            if (line.indexOf('\t') >= 0) {
                faults.add(place + "a tab");
            }
            if (!line.equals(line.stripTrailing())) {
                faults.add(place + "blanks at the end");
            }
            if (i > 0 && line.isEmpty() && lines.get(i - 1).isEmpty() && i + 1 < lines.size()) {
                faults.add(place + "a second empty line");
            }
            int columns = line.codePointCount(0, line.length());
            if (columns > COLUMNS) {
                faults.add(place + columns + " columns, expected at most " + COLUMNS);
            }
        }
        String before = "";
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (!line.startsWith("import ")) {
                continue;
            }
            String place = file + ":" + (i + 1) + ": ";
            boolean isStatic = line.startsWith("import static ");
            String name = line.replaceFirst("import (static )?", "").replace(";", "");
            if (name.endsWith("*")) {
                faults.add(place + "an import with a wildcard");
            }
            boolean isFirst = before.isEmpty();
            boolean wasStatic = before.startsWith("static ");
            String last = before.replaceFirst("static ", "");
            if (!isFirst && isStatic != wasStatic) {
                if (isStatic || !lines.get(i - 1).isEmpty()) {
                    faults.add(place + "static imports first, then an empty line");
                }
            } else if (!isFirst && last.compareTo(name) > 0 && !last.startsWith(name)) {
                faults.add(place + "this import before " + last);
            }
            before = (isStatic ? "static " : "") + name;
        }
        return faults;
    }

    private static boolean isSource(Path file) {
        String name = file.getFileName().toString();
        return Files.isRegularFile(file) && SOURCES.contains(name.substring(name.lastIndexOf('.') + 1))
                && !file.toString().contains("/resources/");
    }
}
