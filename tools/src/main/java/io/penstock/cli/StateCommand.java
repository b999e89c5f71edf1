// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.json.Json;
import io.penstock.remote.RemoteFiles;
import io.penstock.sampling.Edit.Excise;
import io.penstock.sampling.Edit.ExciseSamples;
import io.penstock.sampling.Edit.Repeat;
import io.penstock.sampling.Edit.Reweigh;
import io.penstock.sampling.Edit.Until;
import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "state",
        description = "Shows, compares and edits saved states: a run's position in its data.",
        subcommands = {StateCommand.Show.class, StateCommand.Diff.class, StateCommand.Edit.class})
final class StateCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("UnusedVariable")
    private Report report;

    @Override
    public Integer call() {
        throw new UsageException("missing command, expected show, diff or edit");
    }

    private static Map<String, @Nullable Object> fields(String file, RemoteOptions remote) throws IOException {
        return Json.object(Json.parse(read(file, remote).toJson()));
    }

    /** The state in a file, or in the folder of a checkpoint. */
    static LoaderState read(String file, RemoteOptions remote) throws IOException {
        Path checkpoint = checkpoint(file);
        return checkpoint != null ? Checkpoint.load(checkpoint).state() : LoaderState.read(remote.locate(file));
    }

    /**
     * The folder of a checkpoint, which is named by itself, by the file in it, or by the folder of a run, whose latest
     * it is; null if this names none.
     */
    private static @Nullable Path checkpoint(String file) throws IOException {
        if (RemoteFiles.isRemote(file)) {
            return null;
        }
        Path path = Path.of(file);
        if (path.endsWith(Checkpoint.FILE_NAME) && Files.isRegularFile(path)) {
            return path.toAbsolutePath().getParent();
        }
        return Files.isDirectory(path) ? Checkpoint.latest(path).orElse(path) : null;
    }

    @Command(name = "show", description = "Prints a state.")
    static final class Show implements Callable<Integer> {

        @Mixin
        private Report report;

        @Parameters(paramLabel = "FILE",
                description = "A state, written by 'stream --state' or from DataLoader.state(), or the folder of a"
                        + " checkpoint, or of a run's checkpoints: the latest.")
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
            fields.forEach((name, value) -> {
                if (name.equals("edits")) {
                    text.append("edits:\n");
                    LoaderState.fromJson(Json.write(fields)).edits()
                            .forEach(edit -> text.append("  ").append(text(edit)).append('\n'));
                } else {
                    DetailText.append(text, 0, name, value);
                }
            });
            report.print(text.toString());
            return ExitCode.SUCCESS;
        }
    }

    private static String text(io.penstock.sampling.Edit edit) {
        String at = "at epoch " + edit.epoch() + ", position " + edit.position() + ": ";
        return switch (edit) {
            case Excise cut -> at + "leaves out positions " + cut.from() + " to " + (cut.end() - 1) + " of epoch "
                    + cut.ofEpoch();
            case ExciseSamples cut -> at + "leaves out samples " + cut.from() + " to " + (cut.end() - 1);
            case Repeat repeat -> at + "gives positions " + repeat.from() + " to " + (repeat.end() - 1) + " of epoch "
                    + repeat.ofEpoch() + " again";
            case Until until -> at + "ends the run at epoch " + until.endEpoch() + ", position " + until.end();
            case Reweigh change -> at + "weights " + change.weights() + (change.isFeedback() ? " by feedback" : "");
        };
    }

    @Command(
            name = "edit",
            sortOptions = false,
            abbreviateSynopsis = true,
            description = "Edits the run of a state: leaves out steps, samples, documents or files, gives steps again,"
                    + " ends it, changes the weights of a mixture. Replaces the state in FILE.",
            footer = {"", "Example: penstock state edit state.json out --window 1024 --excise 48200..48230",
                "", "Takes the options of the run. A run that resumes from the state skips exactly that, and so does"
                    + " each later one, with any number of ranks. The rest of the order stays as it is."})
    static final class Edit implements Callable<Integer> {

        @Mixin
        private Report report;

        @Parameters(index = "0", paramLabel = "FILE",
                description = "The state, or the folder of a checkpoint, or of a run's checkpoints: the"
                        + " latest; also s3://BUCKET/KEY.")
        private String file;

        @Parameters(index = "1..*", arity = "0..*", paramLabel = "STORE", description = PlanOptions.STORES)
        private List<String> names = List.of();

        @Mixin
        private EditOptions edits;

        @Mixin
        private SourceOptions sources;

        @Mixin
        private SampleOptions samples;

        @Mixin
        private PlanOptions plan;

        @Mixin
        private StoreOptions storeOptions;

        @Override
        public Integer call() throws IOException {
            if (!edits.isGiven()) {
                throw new UsageException("missing edit, expected --excise, --excise-samples, --excise-documents,"
                        + " --excise-file, --repeat, --until, --reweigh or --add-stores");
            }
            RemoteOptions remote = storeOptions.remote();
            LoaderState state = read(file, remote);
            try (SampleSource source = sources.open(names, samples, storeOptions, plan)) {
                LoaderState edited = edits.applied(state, plan.batches(source), source);
                write(edited, remote);
                int more = edited.edits().size() - state.edits().size();
                if (report.isJson()) {
                    report.print(Json.object(Json.parse(edited.toJson())));
                } else {
                    report.print(file + ": " + NumberText.count(more, "edit") + " added, "
                            + NumberText.count(edited.edits().size(), "edit") + " in all.\n");
                }
            }
            return ExitCode.SUCCESS;
        }

        private void write(LoaderState edited, RemoteOptions remote) throws IOException {
            Path folder = checkpoint(file);
            if (folder != null) {
                Checkpoint.load(folder).replaceState(folder, edited);
                return;
            }
            try (Target target = Target.of(file, remote, IfExists.REPLACE)) {
                edited.write(target.path());
                target.publish(ProgressBar.hidden());
            }
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
            Set<String> names = new LinkedHashSet<>(a.keySet());
            names.addAll(b.keySet());
            names.forEach(name -> {
                if (!Objects.equals(a.get(name), b.get(name))) {
                    differences.put(name, List.of(a.getOrDefault(name, "none"), b.getOrDefault(name, "none")));
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
