// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.json.Json;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "state",
        description = "Shows and compares saved states: a run's position in its data.",
        subcommands = {StateCommand.Show.class, StateCommand.Diff.class})
final class StateCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("UnusedVariable")
    private Report report;

    @Override
    public Integer call() {
        throw new UsageException("missing command, expected show or diff");
    }

    private static Map<String, @Nullable Object> fields(String file, RemoteOptions remote) throws IOException {
        return Json.object(Json.parse(LoaderState.read(remote.locate(file)).toJson()));
    }

    @Command(name = "show", description = "Prints a state.")
    static final class Show implements Callable<Integer> {

        @Mixin
        private Report report;

        @Parameters(paramLabel = "FILE",
                description = "A state, written by 'stream --state' or from DataLoader.state().")
        private String file;

        @Mixin
        private RemoteOptions remote;

        @Override
        public Integer call() throws IOException {
            Map<String, @Nullable Object> fields = fields(file, remote);
            if (report.isJson()) {
                report.print(fields);
                return ExitCode.SUCCESS;
            }
            StringBuilder text = new StringBuilder();
            fields.forEach((name, value) -> DetailText.append(text, 0, name, value));
            report.print(text.toString());
            return ExitCode.SUCCESS;
        }
    }

    @Command(
            name = "diff",
            description = "Prints how two states differ. The exit status is 1 if they do.",
            footer = {"",
                "States with different datasets, samplers or seeds belong to different plans: neither run can resume"
                    + " from the other's state. States of one plan differ only in epoch and position."})
    static final class Diff implements Callable<Integer> {

        @Mixin
        private Report report;

        @Parameters(index = "0", paramLabel = "A", description = "A state.")
        private String first;

        @Parameters(index = "1", paramLabel = "B", description = "Another state.")
        private String second;

        @Mixin
        private RemoteOptions remote;

        @Override
        public Integer call() throws IOException {
            Map<String, @Nullable Object> a = fields(first, remote);
            Map<String, @Nullable Object> b = fields(second, remote);
            Map<String, @Nullable Object> differences = new LinkedHashMap<>();
            a.forEach((name, value) -> {
                if (!Objects.equals(value, b.get(name))) {
                    differences.put(name, List.of(value, b.get(name)));
                }
            });
            boolean onePlan = !differences.containsKey("dataset") && !differences.containsKey("sampler")
                    && !differences.containsKey("seed");
            if (report.isJson()) {
                report.print(Map.of("differences", differences, "one_plan", onePlan));
            } else {
                StringBuilder text = new StringBuilder();
                differences.forEach((name, values) -> text.append(name).append(": ")
                        .append(((List<?>) values).get(0)).append(" -> ").append(((List<?>) values).get(1))
                        .append('\n'));
                text.append(differences.isEmpty() ? "The states are equal.\n"
                        : onePlan ? "The same plan, at different positions.\n"
                        : "Different plans: neither run can resume from the other's state.\n");
                report.print(text.toString());
            }
            return differences.isEmpty() ? ExitCode.SUCCESS : ExitCode.FAILURE;
        }
    }
}
