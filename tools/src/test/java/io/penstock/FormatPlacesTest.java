// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.store.StoreFormats;
import io.penstock.store.StoreProvider;
import io.penstock.testing.Modules;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Follows "A format of Penstock itself" in docs/formats/your-own.md: each of its places names each format. */
class FormatPlacesTest {

    /** Their files have no structure that a malformed one could break. */
    private static final Set<String> WITHOUT_FUZZING = Set.of("raw", "files");

    private static List<String> formats() {
        return StoreFormats.all().stream().map(StoreProvider::name).toList();
    }

    private static String page() throws IOException {
        return Files.readString(Path.of("docs/formats.md"));
    }

    private static List<String> quoted(String text) {
        return Pattern.compile("`([a-z0-9]+)`").matcher(text).results().map((MatchResult found) -> found.group(1))
                .toList();
    }

    @Test
    void theModulesProvideThemAndSoDoTheFilesOfTheClassPath() throws IOException {
        Set<String> expected = StoreFormats.all().stream().map(provider -> provider.getClass().getName())
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> modules = new TreeSet<>();
        Set<String> files = new TreeSet<>();
        for (Path classes : Modules.classes()) {
            Modules.descriptor(classes).provides().stream()
                    .filter(service -> service.service().equals(StoreProvider.class.getName()))
                    .map(ModuleDescriptor.Provides::providers).forEach(modules::addAll);
            Path services = classes.resolve("META-INF/services").resolve(StoreProvider.class.getName());
            if (Files.exists(services)) {
                files.addAll(Files.readAllLines(services));
            }
        }
        assertEquals(expected, modules);
        assertEquals(expected, files);
    }

    @Test
    void theOrderOfDetectionIsWhatThePageSays() throws IOException {
        String text = page();
        int from = text.indexOf("Detection tries all formats");
        assertEquals(formats(), quoted(text.substring(from, text.indexOf("\n\n", from))).stream().distinct().toList());
    }

    @Test
    void theTableOfThePageHasARowEach() throws IOException {
        List<String> rows = page().lines().filter(line -> line.startsWith("| `"))
                .flatMap(line -> quoted(line).stream().limit(1)).toList();
        assertTrue(rows.containsAll(formats()), rows + " has not all of " + formats());
    }

    @Test
    void theLayersSayWhatItsPackageUses() throws IOException {
        String layers = Files.readString(Path.of("tools/src/test/resources/io/penstock/layers.txt"));
        List<String> missing = StoreFormats.all().stream()
                .map(provider -> provider.getClass().getPackageName().substring("io.penstock.".length()))
                .filter(name -> layers.lines().noneMatch(line -> line.startsWith(name + ":"))).toList();
        assertEquals(List.of(), missing);
    }

    @Test
    void aFuzzTargetReadsItsFiles() throws IOException {
        List<String> fuzzed = new ArrayList<>();
        for (Path tests : Modules.tests()) {
            Path folder = tests.resolve("io/penstock/fuzz");
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.list(folder)) {
                    for (Path file : files.filter(one -> one.toString().endsWith("Fuzz.java")).toList()) {
                        fuzzed.add(Files.readString(file));
                    }
                }
            }
        }
        List<String> missing = formats().stream().filter(name -> !WITHOUT_FUZZING.contains(name))
                .filter(name -> fuzzed.stream().noneMatch(target -> target.contains('"' + name + '"'))).toList();
        assertEquals(List.of(), missing);
    }
}
