// SPDX-License-Identifier: Apache-2.0
package io.penstock.tensorflow;

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
            "<!-- compiled by integrations/tensorflow -->\n```java\n(.*?)\n```", Pattern.DOTALL);

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
            assertEquals(List.of(), found.getDiagnostics());
        }
    }

    /** Code in a method that has what it uses as parameters. */
    private static final class Example extends SimpleJavaFileObject {
        private final String code;

        Example(String code) {
            super(URI.create("string:///io/penstock/tensorflow/Example.java"), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return """
                    package io.penstock.tensorflow;
                    import io.penstock.loader.*;
                    import io.penstock.state.Checkpoint;
                    import java.nio.file.Path;
                    import org.tensorflow.Session;
                    import org.tensorflow.op.Op;
                    class Example {
                        void example(DataLoader loader, Session session, Op step, long steps, Path run)
                                throws Exception {
                            %s
                        }
                    }
                    """.formatted(code);
        }
    }
}
