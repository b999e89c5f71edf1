// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class HelpTextTest {

    private static final int ENDLESS = 4000;
    private static final int TERMINAL = 80;

    /** Every command by its name with those above it. */
    private static Map<String, CommandLine> commands() {
        Map<String, CommandLine> commands = new LinkedHashMap<>();
        add(commands, Penstock.commandLine());
        assertTrue(commands.containsKey("penstock state diff"), commands.keySet()::toString);
        return commands;
    }

    private static void add(Map<String, CommandLine> commands, CommandLine command) {
        commands.put(command.getCommandSpec().qualifiedName(), command);
        command.getSubcommands().values().forEach(sub -> add(commands, sub));
    }

    private static String help(CommandLine command, int width) {
        return command.setUsageHelpAutoWidth(false).setUsageHelpWidth(width).getUsageMessage();
    }

    /** The words of a help text, without those of the synopsis, which ends its lines between options. */
    private static List<String> words(String help, String name) {
        return Arrays.stream(help.substring(help.indexOf("\n", help.indexOf(name))).split("\\s+")).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {80, 81, 93, 100, 120})
    void linesEndBetweenWords(int width) {
        commands().forEach((name, command) -> {
            command.getCommandSpec().usageMessage().abbreviateSynopsis(true);
            assertEquals(words(help(command, ENDLESS), name), words(help(command, width), name), name);
            assertTrue(help(command, width).lines().allMatch(line -> line.length() <= width), name);
        });
    }

    @Test
    void anExampleIsOnOneLineOfATerminal() {
        commands().values().stream().flatMap(command -> Stream.of(command.getCommandSpec().usageMessage().footer()))
                .filter(line -> line.startsWith("Example") || line.startsWith("  "))
                .forEach(line -> assertTrue(line.length() <= TERMINAL, line));
    }
}
