// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles the examples of the README, each as the body of a method. */
class ExamplesTest {

    private static final Pattern EXAMPLE = Pattern.compile(
            "<!-- compiled by integrations/pytorch -->\n```java\n(.*?)\n```", Pattern.DOTALL);

    @TempDir
    Path folder;

    @Test
    void examplesCompile() throws IOException {
        List<String> examples = EXAMPLE.matcher(Files.readString(Path.of("README.md"))).results()
                .map((MatchResult found) -> found.group(1)).toList();
        assertEquals(2, examples.size());
        for (String example : examples) {
            var found = new DiagnosticCollector<JavaFileObject>();
            ToolProvider.getSystemJavaCompiler().getTask(null, null, found, List.of("-proc:none", "-nowarn", "-d",
                    folder.toString(), "-cp", System.getProperty("java.class.path")), null,
                    List.of(new Example(example))).call();
            assertEquals(List.of(), found.getDiagnostics().stream()
                    .filter(each -> each.getKind() == javax.tools.Diagnostic.Kind.ERROR).toList());
        }
    }

    /** Code in a method that has what it uses as parameters. */
    private static final class Example extends SimpleJavaFileObject {
        private final String code;

        Example(String code) {
            super(URI.create("string:///io/penstock/pytorch/Example.java"), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return """
                    package io.penstock.pytorch;
                    import io.penstock.loader.*;
                    import io.penstock.state.Checkpoint;
                    import java.nio.file.Path;
                    import java.util.Optional;
                    import org.bytedeco.javacpp.PointerScope;
                    import org.bytedeco.pytorch.LinearImpl;
                    import org.bytedeco.pytorch.Optimizer;
                    import org.bytedeco.pytorch.Tensor;
                    import org.bytedeco.pytorch.global.torch;
                    class Example {
                        static %s
                        void example(DataLoaderBuilder settings, LinearImpl model, Optimizer optimizer, long steps,
                                Path folder) throws Exception {
                            %s
                        }
                    }
                    """.formatted(code.contains("DataLoader loader") ? "int unused;" : "DataLoader loader;", code);
        }
    }
}
