// SPDX-License-Identifier: Apache-2.0
package io.penstock.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Java code in a document or in Javadoc.
 *
 * @param file the document or source file
 * @param line of the file that the first line of the code has; 1 is the first
 * @param prelude the class in {@link ExamplePrelude} whose names the code uses, behind a dot; empty for that itself
 * @param code its lines
 */
record CodeBlock(Path file, int line, String prelude, List<String> code) {

    private static final Pattern PRELUDE = Pattern.compile("<!-- prelude: (\\w+) -->");
    private static final Pattern ELSEWHERE = Pattern.compile("<!-- compiled by integrations/\\w+ -->");
    private static final Pattern PUBLIC = Pattern.compile("^public .*(class|interface|enum|record) ",
            Pattern.MULTILINE);
    private static final Pattern COMMENT = Pattern.compile("/\\*\\*.*?\\*/", Pattern.DOTALL);
    private static final Pattern EXAMPLE = Pattern.compile("\\{@snippet(?: id=(\\w+))? :|<pre>\\{@code");
    private static final Pattern STATEMENT = Pattern.compile("; *(//.*)?$");
    private static final Pattern MARGIN = Pattern.compile("^ *\\* ?");

    /** The blocks of a Markdown file that are fenced as Java, but for those that an integration's build compiles. */
    static List<CodeBlock> ofMarkdown(Path file) throws IOException {
        List<CodeBlock> blocks = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        String prelude = "";
        for (int i = 0; i < lines.size(); i++) {
            Matcher named = PRELUDE.matcher(lines.get(i));
            if (named.matches()) {
                prelude = "." + named.group(1);
            } else if (lines.get(i).startsWith("```java") && !isCompiledElsewhere(lines, i)) {
                int first = i + 1;
                do {
                    i++;
                } while (!lines.get(i).equals("```"));
                blocks.add(new CodeBlock(file, first + 1, prelude, lines.subList(first, i)));
                prelude = "";
            } else if (lines.get(i).startsWith("```")) {
                do {
                    i++;
                } while (!lines.get(i).equals("```"));
            }
        }
        return blocks;
    }

    private static boolean isCompiledElsewhere(List<String> lines, int fence) {
        return fence > 0 && ELSEWHERE.matcher(lines.get(fence - 1)).matches();
    }

    /** The examples in the Javadoc of a public type or of a package: snippets, and preformatted Java. */
    static List<CodeBlock> ofJava(Path file) throws IOException {
        List<CodeBlock> blocks = new ArrayList<>();
        String text = Files.readString(file);
        if (!file.endsWith("package-info.java") && !PUBLIC.matcher(text).find()) {
            return blocks;
        }
        Matcher comment = COMMENT.matcher(text);
        while (comment.find()) {
            Matcher example = EXAMPLE.matcher(text).region(comment.start(), comment.end());
            while (example.find()) {
                int end = end(text, example.end());
                List<String> code = text.substring(example.end(), end).lines()
                        .map(line -> MARGIN.matcher(line).replaceFirst("")).toList();
                boolean isSnippet = example.group().startsWith("{@snippet");
                if (isSnippet || code.stream().anyMatch(line -> STATEMENT.matcher(line).find())) {
                    blocks.add(new CodeBlock(file, (int) text.substring(0, example.end()).lines().count(),
                            example.group(1) == null ? "" : "." + example.group(1), code));
                }
            }
        }
        return blocks;
    }

    /** Where the brace closes that was opened before {@code from}. */
    private static int end(String text, int from) {
        int open = 1;
        int at = from;
        while (open > 0) {
            char c = text.charAt(at++);
            open += c == '{' ? 1 : c == '}' ? -1 : 0;
        }
        return at - 1;
    }
}
