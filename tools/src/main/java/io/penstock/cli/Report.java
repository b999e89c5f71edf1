// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.json.Json;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The options of every command: help, progress, and the form of the result: text for people, or JSON for programs (one
 * document, or one per line for a stream).
 */
final class Report {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--json", description = "Print the result as JSON.")
    private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable")
    private boolean help;

    @Option(names = {"-q", "--quiet"}, description = "Show no progress bar.")
    private boolean quiet;

    boolean isJson() {
        return json;
    }

    /** Prints a text as it is, or any other value as JSON. */
    void print(Object result) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(result instanceof String text ? text : Json.pretty(result));
        out.flush();
    }

    /**
     * Prints one line of a stream of results at once, so that a reader has it. Returns false if a closed pipe or a full
     * disk ends the stream; {@link Penstock} then reports that.
     */
    boolean printLine(Object result) {
        PrintWriter out = spec.commandLine().getOut();
        out.print((result instanceof String text ? text : Json.write(result)) + "\n");
        return !out.checkError();
    }

    /** Prints a line beside the result, for people: to standard error. */
    void note(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("penstock: " + line);
        err.flush();
    }

    ProgressBar progressBar(String label, String unit) {
        PrintWriter terminal = spec.commandLine().getErr();
        return quiet || !ProgressBar.isTerminal() ? ProgressBar.hidden() : new ProgressBar(terminal, label, unit);
    }
}
