// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.text.NearestName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * What was wrong with the arguments, and what was probably meant: an option that is written nearly so, that has the
 * same words, or that has this name in another tool or in another command.
 */
final class WrongUsage {

    /** More than these are no hint. */
    private static final int MOST_MEANT = 3;
    private static final int LEAST_PREFIX = 3;

    /** How other loaders, tokenizers and tools name what an option does. */
    private static final Map<String, String> ELSEWHERE = Map.ofEntries(Map.entry("bs", "--batch"),
            Map.entry("threads", "--workers"), Map.entry("gpu", "--device"), Map.entry("cuda", "--device"),
            Map.entry("block-size", "--window"), Map.entry("context-length", "--window"),
            Map.entry("seq-len", "--window"), Map.entry("seq-length", "--window"),
            Map.entry("seqlen", "--window"), Map.entry("sequence-length", "--window"), Map.entry("column", "--fields"),
            Map.entry("columns", "--fields"), Map.entry("resume", "--state"), Map.entry("checkpoint", "--state"),
            Map.entry("overwrite", "--force"), Map.entry("out", "--output"), Map.entry("eot", "--append-eot"),
            Map.entry("jobs", "--threads"), Map.entry("num-shards", "--world"), Map.entry("max-steps", "--steps"));

    /** Names of Java types, which say nothing to others. */
    private static final Pattern TYPE = Pattern.compile("^(.*) is not an? (int|long|double|boolean)$");

    private WrongUsage() {
    }

    /** The message, in one line. */
    static String of(CommandLine command, Exception e) {
        CommandSpec spec = command.getCommandSpec();
        if (e instanceof UnmatchedArgumentException unmatched) {
            List<String> given = unmatched.getUnmatched();
            return given.stream().filter(arg -> arg.startsWith("-") && arg.length() > 1).findFirst()
                    .map(option -> unknownOption(spec, option)).orElseGet(() -> unexpected(command, given.getFirst()));
        }
        String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("wrong usage")
                .replaceFirst("^Missing", "missing").replaceFirst("^Invalid", "invalid");
        return TYPE.matcher(message).replaceFirst(match -> switch (match.group(2)) {
            case "boolean" -> "$1, expected no value";
            case "double" -> "$1, expected a number";
            default -> "$1, expected a whole number";
        });
    }

    private static String unexpected(CommandLine command, String found) {
        CommandSpec spec = command.getCommandSpec();
        if (!command.getSubcommands().isEmpty()) {
            String near = NearestName.of(found, List.copyOf(command.getSubcommands().keySet()));
            return "unknown command '" + found + "'" + (!near.isEmpty() ? "; did you mean " + near + "?"
                    : spec.parent() == null ? "" : ", expected " + inWords(command.getSubcommands().keySet(), "or"));
        }
        List<String> expected = spec.positionalParameters().stream().map(ArgSpec::paramLabel).toList();
        return "unexpected argument '" + found + "': " + spec.qualifiedName() + " takes "
                + (expected.isEmpty() ? "no arguments" : inWords(expected, "and") + " only");
    }

    private static String unknownOption(CommandSpec spec, String given) {
        String option = given.replaceFirst("(?<=.)=.*", "");
        List<String> known = spec.options().stream().filter(one -> !one.hidden())
                .flatMap(one -> Arrays.stream(one.names())).filter(name -> name.startsWith("--")).toList();
        List<String> having = Penstock.COMMANDS.entrySet().stream()
                .filter(other -> CommandSpec.forAnnotatedObject(other.getValue()).findOption(option) != null)
                .map(other -> "'penstock " + other.getKey() + "'").toList();
        List<String> meant = meant(option.toLowerCase(Locale.ROOT).replace('_', '-').replaceFirst("^-+", ""), known,
                !having.isEmpty());
        if (!meant.isEmpty()) {
            return "unknown option '" + option + "'; did you mean " + inWords(meant, "or") + "?";
        }
        return "unknown option '" + option + "'" + (having.isEmpty() || having.size() > MOST_MEANT ? ""
                : "; " + inWords(having, "and") + (having.size() == 1 ? " has it" : " have it"));
    }

    /**
     * The options that were probably meant, by the first rule that finds any, or none. An option that other commands
     * have is spelled as it was meant.
     */
    private static List<String> meant(String given, List<String> known, boolean isKnownElsewhere) {
        List<Predicate<String>> rules = new ArrayList<>();
        rules.add(name -> name.equals(given));
        if (given.length() >= LEAST_PREFIX) {
            rules.add(name -> NearestName.edits(given, name) == 1);
            rules.add(name -> name.startsWith(given) || words(name).containsAll(words(given)));
        }
        rules.add(name -> ("--" + name).equals(ELSEWHERE.get(given)));
        rules.add(name -> words(given).containsAll(words(name)));
        if (!isKnownElsewhere && given.length() > LEAST_PREFIX + 1) {
            rules.add(name -> NearestName.edits(given, name) == 2 && name.length() > LEAST_PREFIX + 1);
            rules.add(name -> name.startsWith(given.substring(0, given.length() * 2 / 3)));
        }
        for (Predicate<String> rule : rules) {
            List<String> found = known.stream().filter(option -> rule.test(option.substring(2))).toList();
            if (!found.isEmpty()) {
                return found.size() > MOST_MEANT ? List.of() : found;
            }
        }
        return List.of();
    }

    private static Set<String> words(String name) {
        return new HashSet<>(Arrays.asList(name.split("-")));
    }

    private static String inWords(Iterable<String> names, String last) {
        List<String> all = new ArrayList<>();
        names.forEach(all::add);
        String end = all.removeLast();
        return all.isEmpty() ? end : all.stream().collect(Collectors.joining(", ")) + " " + last + " " + end;
    }
}
