package io.penstock.cli;

import io.penstock.json.Json;
import java.io.PrintWriter;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How a command reports: as text for people, or as one JSON document for programs. */
final class Report {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--json", description = "Print the result as JSON.")
    private boolean json;

    @Option(names = {"-q", "--quiet"}, description = "Show no progress.")
    private boolean quiet;

    boolean isJson() {
        return json;
    }

    PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** Prints a result: the JSON of its fields, or the text. */
    void print(Map<String, Object> fields, String text) {
        PrintWriter out = out();
        out.print(json ? Json.pretty(fields) : text);
        out.flush();
    }

    ProgressBar progressBar(String label, String unit) {
        return new ProgressBar(!quiet && ProgressBar.isTerminal() ? spec.commandLine().getErr() : null, label, unit);
    }
}
