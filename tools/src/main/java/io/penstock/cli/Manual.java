// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Writes a man page for each command, and the completion for bash and zsh: what an archive of the command has beside
 * it. The texts are those of {@code --help}, so that there is one description of each option.
 *
 * <p>The pages use the macros of {@code man(7)} alone.
 */
final class Manual {

    private static final Map<String, String> ENVIRONMENT = Map.of(
            "PENSTOCK_JAVA_HOME", "the JDK to use, in place of the one that is found",
            "PENSTOCK_JAVA_OPTS", "further options for the JVM, such as -Xmx4g",
            "PENSTOCK_CLASS_PATH", "further jars, such as those of formats of your own",
            "PENSTOCK_AOT", "off: neither make nor use the cache that lets Java start sooner",
            "PENSTOCK_STACKTRACE", "print a stack trace on failure, as --stacktrace does");

    private final Path folder;

    private Manual(Path folder) {
        this.folder = folder;
    }

    /**
     * Writes the pages into the folder {@code man1} of the folder that the argument names, and the file {@code
     * penstock.bash}; replaces what is there.
     */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        CommandLine line = Penstock.commandLine();
        new Manual(Files.createDirectories(folder.resolve("man1"))).write(line.getCommandSpec());
        Files.writeString(folder.resolve("penstock.bash"), AutoComplete.bash("penstock", line));
    }

    private void write(CommandSpec command) throws IOException {
        Files.writeString(folder.resolve(pageOf(command) + ".1"), page(command));
        for (CommandLine each : command.subcommands().values()) {
            write(each.getCommandSpec());
        }
    }

    private static String pageOf(CommandSpec command) {
        return command.qualifiedName("-");
    }

    private static String page(CommandSpec command) {
        Help help = new Help(command, Help.defaultColorScheme(Ansi.OFF));
        StringBuilder page = new StringBuilder();
        page.append(".TH ").append(pageOf(command).toUpperCase(Locale.ROOT)).append(" 1 \"\" \"Penstock\"\n");
        List<String> description = texts(command.usageMessage().description());
        String first = String.join(" ", description).split("(?<=\\.) ", 2)[0];
        section(page, "NAME").append(escaped(pageOf(command) + " - " + first)).append('\n');
        section(page, "SYNOPSIS").append(escaped(help.synopsis(0).strip().replaceAll("\\s+", " "))).append('\n');
        section(page, "DESCRIPTION");
        paragraphs(page, description);
        List<? extends ArgSpec> parameters = command.positionalParameters().stream().filter(each -> !each.hidden())
                .toList();
        List<OptionSpec> options = command.options().stream().filter(each -> !each.hidden()).toList();
        if (!parameters.isEmpty() || !options.isEmpty()) {
            section(page, "OPTIONS");
            parameters.forEach(each -> described(page, each.paramLabel(), each.description()));
            options.forEach(each -> described(page, names(help, each), each.description()));
        }
        if (!command.subcommands().isEmpty()) {
            section(page, "COMMANDS");
            command.subcommands().forEach((name, each) -> described(page, name,
                    each.getCommandSpec().usageMessage().description()));
        }
        List<String> footer = texts(command.usageMessage().footer());
        if (!footer.isEmpty()) {
            section(page, "NOTES");
            paragraphs(page, footer);
        }
        if (command.parent() == null) {
            section(page, "ENVIRONMENT");
            ENVIRONMENT.entrySet().stream().sorted(Map.Entry.comparingByKey())
                    .forEach(each -> described(page, each.getKey(), each.getValue()));
        } else {
            section(page, "SEE ALSO").append(escaped(pageOf(command.parent()))).append("(1)\n");
        }
        return page.toString();
    }

    /** The names of an option with its value: {@code -o, --output FILE}. */
    private static String names(Help help, OptionSpec option) {
        String label = help.parameterLabelRenderer().renderParameterLabel(option, Ansi.OFF, List.of()).plainString();
        String names = Arrays.stream(option.names()).collect(Collectors.joining(", "));
        return names + (label.startsWith("=") ? " " + label.substring(1) : label);
    }

    private static StringBuilder section(StringBuilder page, String title) {
        return page.append(".SH ").append(title).append('\n');
    }

    private static void described(StringBuilder page, String term, String... description) {
        page.append(".TP\n.B ").append(escaped(term)).append('\n');
        page.append(escaped(String.join(" ", texts(description)))).append('\n');
    }

    private static void paragraphs(StringBuilder page, List<String> texts) {
        texts.forEach(text -> page.append(".PP\n").append(escaped(text)).append('\n'));
    }

    /** Without empty lines, and with what {@code %n} and {@code %%} stand for. */
    private static List<String> texts(String... lines) {
        return Arrays.stream(lines).map(line -> String.format(Locale.ROOT, line).strip())
                .flatMap(line -> Arrays.stream(line.split("\\R"))).filter(line -> !line.isEmpty()).toList();
    }

    /** A text whose first character is no request, and whose dashes and backslashes stay what they are. */
    private static String escaped(String text) {
        String plain = text.replace("\\", "\\e").replace("-", "\\-");
        return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
    }
}
