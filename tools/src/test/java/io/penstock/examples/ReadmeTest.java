// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenStore;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadmeTest {

    private static final Path README = Path.of("README.md");
    private static final Path START = Path.of("docs/start.md");
    private static final Path EXAMPLE = Path.of("src/test/java/io/penstock/examples/TenLines.java");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)");

    @TempDir
    Path folder;

    @Test
    void showsTheExampleThatIsCompiledHere() throws IOException {
        List<String> lines = Files.readAllLines(EXAMPLE);
        String example = lines.subList(lines.indexOf("        // begin") + 1, lines.indexOf("        // end")).stream()
                .map(line -> line.substring(8)).collect(Collectors.joining("\n"));
        assertEquals(10, example.lines().count());
        String shown = "Path path = Path.of(\"tokens\");\n" + example;
        assertTrue(Files.readString(README).contains("```java\n" + shown + "\n```\n"), "README.md lacks:\n" + shown);
        assertTrue(Files.readString(START).contains(shown.indent(4) + "}\n"), START + " lacks:\n" + shown);
    }

    /** {@code .ci/run} runs the whole block; here it compiles, and imports no more than it needs. */
    @Test
    void theProgramAroundItCompilesWithTheImportsThatItHas() throws IOException {
        String page = Files.readString(START);
        int begin = page.indexOf("cat > First.java <<'END'\n");
        Path source = Files.writeString(folder.resolve("First.java"),
                page.substring(page.indexOf('\n', begin) + 1, page.indexOf("\nEND\n", begin) + 1));
        StringWriter messages = new StringWriter();
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            assertTrue(javac.getTask(messages, files, null, List.of("-proc:none", "-d", folder.toString()), null,
                    files.getJavaFileObjects(source)).call(), messages::toString);
        }
    }

    @Test
    void theExampleGivesEveryWindowOfTheCorpusOnceAsInputsAndLabels() throws Exception {
        Path store = folder.resolve("tokens");
        new TokenizeJob(Tokenizer.of("gpt2"), List.of(Path.of("examples/corpus")), store).appendEndOfText().run();
        List<Long> samples = new ArrayList<>();
        long windows;
        try (TokenStore tokens = TokenStore.open(store)) {
            windows = (tokens.tokenCount() - 129) / 128 + 1;
            Span window = new Span();
            new TenLines(store, batch -> {
                assertEquals(List.of(new TensorSpec("input_ids", DType.I64, batch.count(), 128),
                        new TensorSpec("labels", DType.I64, batch.count(), 128)), batch.fields());
                MemorySegment ids = batch.tensor("input_ids").segment();
                MemorySegment labels = batch.tensor("labels").segment();
                for (int row = 0; row < batch.count(); row++) {
                    samples.add(batch.sample(row));
                    tokens.locate(128 * batch.sample(row), 129, window);
                    for (int t = 0; t < 128; t++) {
                        assertEquals(token(window, t), ids.getAtIndex(LittleEndian.I64, 128L * row + t));
                        assertEquals(token(window, t + 1), labels.getAtIndex(LittleEndian.I64, 128L * row + t));
                    }
                }
            }).run();
        }
        assertEquals(windows, samples.size());
        assertEquals(windows, samples.stream().distinct().count());
    }

    private static long token(Span window, int index) {
        return Short.toUnsignedLong(window.segment().get(LittleEndian.I16, window.byteOffset() + 2L * index));
    }

    @Test
    void itsLinksLeadSomewhere() throws IOException {
        Matcher link = LINK.matcher(Files.readString(README));
        int checked = 0;
        while (link.find()) {
            assertTrue(Files.exists(Path.of(link.group(1))), "README.md links to " + link.group(1));
            checked++;
        }
        assertTrue(checked > 5, "only " + checked + " links");
    }
}
