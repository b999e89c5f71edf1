// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Groups the options of large commands under headings in their help. */
final class HelpGroups {

    private static final Set<String> COMMANDS = Set.of("audit", "batches", "explain", "stream", "stats", "tune");
    private static final String REST = "General";
    private static final Map<String, List<String>> GROUPS = groups();

    private static Map<String, List<String>> groups() {
        Map<String, List<String>> groups = new LinkedHashMap<>();
        groups.put("Run", List.of("--step", "--row", "--chars", "--losses", "--worst",
                "--first-step", "--accumulate", "--steps", "--step-ms", "--warmup", "--limit",
                "--epochs", "--every", "--cost", "--values", "--budget", "--cold", "--search-seed"));
        groups.put("Input", List.of("--format", "--dtype", "--shape", "--member", "--fields", "--skip-incomplete",
                "--verify", "--bad-samples", "--max-decoded", "--max-ratio",
                "--max-window"));
        groups.put("Parts to train on and to validate with", List.of("--split", "--validation", "--split-by",
                "--split-seed"));
        groups.put("Streams", List.of("--source", "--follow", "--passes", "--live", "--spool", "--spool-bytes",
                "--lanes", "--encoding", "--vocabulary", "--end-of-text"));
        groups.put("Conversations", List.of("--chat", "--template", "--preferences", "--answers", "--form", "--turns",
                "--no-reasoning", "--no-tool-calls", "--end-of-turn", "--special-text", "--media", "--truncate"));
        groups.put("Remote stores", List.of("--cache", "--cache-size", "--offline"));
        groups.put("Samples of token stores", List.of("--window", "--stride", "--within-documents", "--documents",
                "--pack", "--pack-by", "--pack-window"));
        groups.put("Transforms", List.of("--tokens-as", "--decode", "--image", "--augment",
                "--augment-field", "--max-length"));
        groups.put("Order", List.of("--seed", "--no-shuffle", "--shuffle-window", "--order", "--weights",
                "--store-epochs", "--draws", "--then", "--by-chance"));
        groups.put("Batches", List.of("--batch", "--drop-last", "--token-budget", "--max-samples", "--bucket-window",
                "--bucket-group", "--length-field"));
        groups.put("Ranks", List.of("--rank", "--world", "--ranks-from-environment", "--tail", "--balance-window",
                "--balance-square", "--balance-cost", "--balance-alike", "--balance-tokens", "--balance-padded",
                "--balance-samples", "--balance-group"));
        groups.put("Resume", List.of("--state", "--epoch", "--skip", "--ledger",
                "--ledger-bytes"));
        groups.put("Edits of the run, kept in the state", List.of("--excise", "--excise-samples", "--excise-documents",
                "--excise-file", "--repeat", "--until", "--reweigh", "--add-stores"));
        groups.put("Workers, memory and device", List.of("--workers", "--prefetch", "--read", "--read-ahead",
                "--settings", "--memory", "--device", "--transfer"));
        groups.put("Diagnosis", List.of("--report", "--run-name", "--synthetic", "--trace", "--trace-steps",
                "--device-clock", "--watch", "--baseline", "--fail-on-drift", "--allow-other-shape"));
        groups.put("Output", List.of("--digest", "--explain-balance", "--output", "--svg", "--save", "--json",
                "--quiet"));
        return groups;
    }

    /** Groups the options of the subcommands that have many. */
    static void install(CommandLine line) {
        line.getSubcommands().forEach((name, command) -> {
            if (COMMANDS.contains(name)) {
                command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpGroups::text);
            }
        });
    }

    private static String text(Help help) {
        List<OptionSpec> rest = new ArrayList<>(help.commandSpec().options());
        StringBuilder text = new StringBuilder();
        GROUPS.forEach((heading, names) -> {
            List<OptionSpec> options = names.stream().map(help.commandSpec()::findOption)
                    .filter(rest::contains).toList();
            append(text, help, heading, options);
            rest.removeAll(options);
        });
        append(text, help, REST, rest.stream().filter(option -> !option.hidden()).toList());
        return text.toString();
    }

    private static void append(StringBuilder text, Help help, String heading, List<OptionSpec> options) {
        if (!options.isEmpty()) {
            Help.Layout layout = help.createDefaultLayout();
            layout.addOptions(options, help.parameterLabelRenderer());
            text.append(String.format(Locale.ROOT, "%n%s:%n", heading)).append(layout);
        }
    }
}
