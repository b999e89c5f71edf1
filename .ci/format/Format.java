// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.eclipse.jdt.core.JavaCore;
import org.eclipse.jdt.core.formatter.CodeFormatter;
import org.eclipse.jdt.core.formatter.DefaultCodeFormatterConstants;
import org.eclipse.jdt.internal.formatter.DefaultCodeFormatter;
import org.eclipse.jface.text.BadLocationException;
import org.eclipse.jface.text.Document;
import org.eclipse.text.edits.TextEdit;

/**
 * Formats the sources with the formatter of Eclipse JDT, or checks that they are formatted.
 *
 * <p>{@code mvn -Pformat validate exec:exec} checks; with {@code -Dformat=write} it formats.
 */
final class Format {

    private static final String PREFIX = "org.eclipse.jdt.core.formatter.";
    private static final String RELEASE = "25";

    public static void main(String[] args) throws IOException, BadLocationException {
        boolean write = args[0].equals("write");
        CodeFormatter formatter = new DefaultCodeFormatter(rules(Path.of(".ci/format/rules")));
        int different = 0;
        for (String folder : List.of("src/main/java", "src/test/java", "bench/java")) {
            List<Path> sources;
            try (Stream<Path> files = Files.walk(Path.of(folder))) {
                sources = files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
            }
            for (Path source : sources) {
                String text = Files.readString(source);
                String formatted = formatted(formatter, source, text);
                if (!formatted.equals(text)) {
                    different++;
                    System.out.println((write ? "formatted " : "not formatted: ") + source);
                    if (write) {
                        Files.writeString(source, formatted);
                    }
                }
            }
        }
        if (different > 0 && !write) {
            System.out.println(different + " files are not formatted; this formats them:"
                    + " mvn -Pformat validate exec:exec -Dformat=write");
            System.exit(1);
        }
    }

    private static String formatted(CodeFormatter formatter, Path source, String text) throws BadLocationException {
        int kind = source.endsWith("module-info.java") ? CodeFormatter.K_MODULE_INFO
                : CodeFormatter.K_COMPILATION_UNIT;
        TextEdit edit = formatter.format(kind | CodeFormatter.F_INCLUDE_COMMENTS, text, 0, text.length(), 0, "\n");
        if (edit == null) {
            throw new IllegalStateException(source + ": the formatter cannot parse it");
        }
        Document document = new Document(text);
        edit.apply(document);
        return document.get();
    }

    private static Map<String, String> rules(Path file) throws IOException {
        Map<String, String> rules = new HashMap<>(DefaultCodeFormatterConstants.getEclipseDefaultSettings());
        rules.put(JavaCore.COMPILER_SOURCE, RELEASE);
        rules.put(JavaCore.COMPILER_COMPLIANCE, RELEASE);
        rules.put(JavaCore.COMPILER_CODEGEN_TARGET_PLATFORM, RELEASE);
        for (String line : Files.readAllLines(file)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] rule = line.split("=", 2);
                rules.put(PREFIX + rule[0], rule[1]);
            }
        }
        return rules;
    }
}
