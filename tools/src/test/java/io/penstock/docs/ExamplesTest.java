// SPDX-License-Identifier: Apache-2.0
package io.penstock.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Modules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * Compiles the examples of the documents and of the Javadoc. An example is the body of a method, in a class that
 * inherits the names that examples use from {@link ExamplePrelude} and imports all exported types of Penstock and all
 * of {@code java.base}. What it begins with may also be imports, and members that start with {@code static}; one that
 * begins with {@code package} is compiled as it is.
 */
class ExamplesTest {

    private static final ClassLoader LOADER = ExamplesTest.class.getClassLoader();
    private static final String IMPORTS = imports();
    private static final Pattern NAMED = Pattern.compile("The snippets of this page import `[^:]*?\\.\\n\\n");
    private static final Pattern NAME = Pattern.compile("`([\\w.]+(?:\\.\\*)?)`");

    @Test
    void examplesOfTheDocumentsCompile() throws IOException {
        List<CodeBlock> blocks = new ArrayList<>();
        for (Path file : MarkdownTest.files()) {
            blocks.addAll(CodeBlock.ofMarkdown(file));
        }
        assertTrue(blocks.size() > 20, "only " + blocks.size() + " examples found");
        assertEquals("", String.join("\n", faults(blocks)));
    }

    /** Whoever copies a snippet of such a page imports what the page says, and needs no more. */
    @Test
    void pagesThatNameThePackagesOfTheirSnippetsNameAll() throws IOException {
        int pages = 0;
        List<String> faults = new ArrayList<>();
        for (Path file : MarkdownTest.files()) {
            Matcher named = NAMED.matcher(Files.readString(file));
            if (named.find()) {
                String imports = NAME.matcher(named.group()).results().map(name -> "import " + name.group(1) + "; ")
                        .collect(Collectors.joining("", "import module java.base; ", ""));
                faults.addAll(faults(CodeBlock.ofMarkdown(file), imports));
                pages++;
            }
        }
        assertTrue(pages >= 4, "only " + pages + " pages found");
        assertEquals("", String.join("\n", faults));
    }

    /** Java that is only indented would not be compiled. */
    @Test
    void javaInTheDocumentsIsFenced() throws IOException {
        List<String> unfenced = new ArrayList<>();
        for (Path file : MarkdownTest.files()) {
            List<String> lines = MarkdownTest.prose(file);
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).matches("    .*; *(//.*)?")) {
                    unfenced.add(file + ":" + (i + 1) + ": " + lines.get(i));
                }
            }
        }
        assertEquals("", String.join("\n", unfenced));
    }

    @Test
    void examplesOfTheJavadocCompile() throws IOException {
        List<CodeBlock> blocks = new ArrayList<>();
        for (Path file : Modules.sources().stream().flatMap(ExamplesTest::files).toList()) {
            blocks.addAll(CodeBlock.ofJava(file));
        }
        assertTrue(blocks.size() > 20, "only " + blocks.size() + " examples found");
        assertEquals("", String.join("\n", faults(blocks)));
    }

    @Test
    void aFaultIsNamedWithItsPlaceInTheDocument() {
        CodeBlock good = new CodeBlock(Path.of("docs/a.md"), 10, "",
                List.of("import java.util.zip.CRC32;", "static final CRC32 CRC = new CRC32();", "",
                        "Object value = CRC;"));
        CodeBlock bad = new CodeBlock(Path.of("docs/b.md"), 20, "",
                List.of("static final long SEED = 1;", "", "long a = SEED;", "long b = missing;"));
        assertEquals(List.of("docs/b.md:23: cannot find symbol: symbol: variable missing"), faults(List.of(good, bad)));
    }

    private static List<String> faults(List<CodeBlock> blocks) {
        return faults(blocks, IMPORTS);
    }

    private static List<String> faults(List<CodeBlock> blocks, String imports) {
        Map<String, CodeBlock> byName = new LinkedHashMap<>();
        List<JavaFileObject> sources = new ArrayList<>();
        for (CodeBlock block : blocks) {
            String name = "Example" + sources.size();
            byName.put(name, block);
            sources.add(new Source(name, source(name, block, imports)));
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        compiler.getTask(null, null, found,
                List.of("-proc:none", "-nowarn", "-implicit:none", "--should-stop=ifNoError=FLOW", "-Xmaxerrs", "1000",
                        "-d", System.getProperty("java.io.tmpdir"), "-cp", System.getProperty("java.class.path")),
                null, sources).call();
        List<String> faults = new ArrayList<>();
        for (Diagnostic<? extends JavaFileObject> fault : found.getDiagnostics()) {
            if (fault.getKind() == Diagnostic.Kind.ERROR) {
                CodeBlock block = byName.get(((Source) fault.getSource()).name);
                String text = fault.getMessage(Locale.ROOT).lines().map(line -> line.strip().replaceAll(" +", " "))
                        .filter(line -> !line.startsWith("location:")).collect(Collectors.joining(": "));
                faults.add(block.file() + ":" + (block.line() + fault.getLineNumber() - 1) + ": " + text);
            }
        }
        return faults;
    }

    /** The class around an example, whose lines keep their numbers: what is added stands on the same lines. */
    private static String source(String name, CodeBlock block, String imports) {
        if (block.code().getFirst().startsWith("package ")) {
            return String.join("\n", block.code());
        }
        StringBuilder text = new StringBuilder("package io.penstock.docs; ").append(imports);
        boolean isClassOpen = false;
        boolean isBodyOpen = false;
        boolean isMember = false;
        for (String line : block.code()) {
            if (!isClassOpen && !line.startsWith("import ") && !line.isBlank()) {
                text.append("class " + name + " extends ExamplePrelude" + block.prelude() + " { ");
                isClassOpen = true;
            }
            isMember = isMember && !line.isBlank() || line.startsWith("static ");
            if (isClassOpen && !isBodyOpen && !isMember && !line.isBlank()) {
                text.append("void example() throws Throwable { ");
                isBodyOpen = true;
            }
            text.append(line).append('\n');
        }
        return text.append(isBodyOpen ? "} }" : "}").toString();
    }

    private static Stream<Path> files(Path folder) {
        try {
            return SourceFormTest.files(folder).stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void addTypes(Map<String, List<String>> types, Path folder, String exported)
            throws IOException, ClassNotFoundException {
        try (Stream<Path> classes = Files.list(folder.resolve(exported.replace('.', '/')))) {
            for (Path path : classes.filter(file -> file.toString().endsWith(".class")).toList()) {
                String name = path.getFileName().toString().replace(".class", "");
                if (isPublic(Class.forName(exported + "." + name, false, LOADER))) {
                    types.computeIfAbsent(name.substring(name.lastIndexOf('$') + 1), _ -> new ArrayList<>())
                            .add(exported + "." + name.replace('$', '.'));
                }
            }
        }
    }

    /** Of all exported types, by their simple names; one of a name that is there twice is imported by the example. */
    private static String imports() {
        Map<String, List<String>> types = new TreeMap<>();
        try {
            for (Path folder : Modules.classes()) {
                for (ModuleDescriptor.Exports export : Modules.descriptor(folder).exports()) {
                    if (!export.isQualified()) {
                        addTypes(types, folder, export.source());
                    }
                }
            }
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
        // Of a type of a package and one in another type, the former.
        types.values().stream().filter(named -> named.stream().anyMatch(ExamplesTest::isOfAPackage))
                .forEach(named -> named.removeIf(type -> !isOfAPackage(type)));
        return "import module java.base; " + types.values().stream().filter(named -> named.size() == 1)
                .map(named -> "import " + named.getFirst() + "; ").collect(Collectors.joining());
    }

    private static boolean isOfAPackage(String type) {
        return type.matches("[a-z.0-9]+\\.[A-Z]\\w*");
    }

    private static boolean isPublic(Class<?> type) {
        return Modifier.isPublic(type.getModifiers()) && !type.isAnonymousClass()
                && (type.getDeclaringClass() == null || isPublic(type.getDeclaringClass()));
    }

    /** A class in memory. */
    private static final class Source extends SimpleJavaFileObject {

        private final String name;
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///io/penstock/docs/" + name + ".java"), Kind.SOURCE);
            this.name = name;
            this.text = text;
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return kind == Kind.SOURCE;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
