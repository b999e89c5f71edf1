// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * Compiles the examples of the guide for DJL users, of the README and of the Javadoc. An example is the body of a
 * method in a class that inherits names from {@link ExamplePrelude}. In documents the line {@value #MARK} stands above
 * it, by which the engine's build leaves it to this one.
 */
class ExamplesTest {

    private static final String MARK = "<!-- compiled by integrations/djl -->";
    private static final Pattern SNIPPET = Pattern.compile("\\{@snippet :\n(.*?)\n *\\* }", Pattern.DOTALL);
    private static final String IMPORTS = Stream.of("ai.djl.Model", "ai.djl.engine.Engine", "ai.djl.ndarray.NDArray",
            "ai.djl.ndarray.NDList", "ai.djl.ndarray.NDManager", "ai.djl.ndarray.types.DataType",
            "ai.djl.ndarray.types.Shape", "ai.djl.training.DefaultTrainingConfig", "ai.djl.training.EasyTrain",
            "ai.djl.training.GradientCollector", "ai.djl.training.Trainer", "ai.djl.training.dataset.Batch",
            "ai.djl.training.dataset.Dataset", "ai.djl.training.loss.Loss", "ai.djl.training.optimizer.Optimizer",
            "io.penstock.collate.CausalLm", "io.penstock.dataset.TokenWindows", "io.penstock.loader.DataLoader",
            "io.penstock.loader.DataLoaderBuilder", "io.penstock.loader.LeaseMode", "io.penstock.memory.DType",
            "io.penstock.state.Checkpoint", "io.penstock.sampling.Shard", "io.penstock.sampling.TailPolicy",
            "io.penstock.store.TokenStore").map(type -> "import " + type + "; ").reduce("import module java.base; ",
                    String::concat);

    @Test
    void examplesCompile() throws IOException {
        List<Example> examples = new ArrayList<>();
        for (String document : List.of("../../docs/guide-djl.md", "../../docs/coming-from/djl.md", "README.md")) {
            examples.addAll(ofDocument(Path.of(document)));
        }
        int ofDocuments = examples.size();
        assertTrue(ofDocuments > 5, "only " + ofDocuments + " examples in documents");
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            for (Path source : sources.filter(file -> file.toString().endsWith(".java")).toList()) {
                examples.addAll(ofJavadoc(source));
            }
        }
        assertTrue(examples.size() > ofDocuments + 1, "only " + (examples.size() - ofDocuments) + " in Javadoc");
        assertEquals("", String.join("\n", faults(examples)));
    }

    private static List<Example> ofDocument(Path file) throws IOException {
        List<Example> examples = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).equals("```java") && lines.get(i - 1).equals(MARK)) {
                int first = ++i;
                while (!lines.get(i).equals("```")) {
                    i++;
                }
                examples.add(new Example(examples.size(), file, first + 1, String.join("\n", lines.subList(first, i))));
            }
        }
        return examples;
    }

    private static List<Example> ofJavadoc(Path file) throws IOException {
        List<Example> examples = new ArrayList<>();
        String text = Files.readString(file);
        Matcher snippet = SNIPPET.matcher(text);
        while (snippet.find()) {
            int line = (int) text.substring(0, snippet.start(1)).lines().count() + 1;
            examples.add(new Example(examples.size(), file, line, snippet.group(1).replaceAll("(?m)^ *\\* ?", "")));
        }
        return examples;
    }

    private static List<String> faults(List<Example> examples) {
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        ToolProvider.getSystemJavaCompiler().getTask(null, null, found,
                List.of("-proc:none", "-nowarn", "-implicit:none", "--should-stop=ifNoError=FLOW", "-d",
                        System.getProperty("java.io.tmpdir"), "-cp", System.getProperty("java.class.path")),
                null, examples.stream().map(Source::new).toList()).call();
        return found.getDiagnostics().stream().filter(fault -> fault.getKind() == Diagnostic.Kind.ERROR)
                .map(fault -> ((Source) fault.getSource()).example.place(fault.getLineNumber()) + ": "
                        + fault.getMessage(Locale.ROOT))
                .toList();
    }

    /**
     * Code in a document or in Javadoc.
     *
     * @param line of the file that its first line has
     */
    private record Example(int number, Path file, int line, String code) {

        String place(long codeLine) {
            return file + ":" + (line + codeLine - 1);
        }

        String className() {
            return "Example" + number + "Of" + file.getFileName().toString().replaceAll("\\W", "");
        }
    }

    /** An example as a class in memory. What is added stands on the same lines. */
    private static final class Source extends SimpleJavaFileObject {

        private final Example example;

        Source(Example example) {
            super(URI.create("string:///io/penstock/djl/" + example.className() + ".java"), Kind.SOURCE);
            this.example = example;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return "package io.penstock.djl; " + IMPORTS + "class " + example.className()
                    + " extends ExamplePrelude { void example() throws Throwable { " + example.code() + "\n} }";
        }
    }
}
