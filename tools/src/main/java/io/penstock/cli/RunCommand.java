// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.diagnose.Summary;
import io.penstock.diagnose.agent.TrainerAgent;
import io.penstock.loader.DataLoader;
import io.penstock.text.ShellText;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "run",
        description = "Runs a trainer of yours, unchanged, and reports what slowed it down.",
        footer = {"", "Examples: penstock run -- java -cp app.jar acme.Trainer",
            "          penstock run --input acme.Data#next -- java -cp app.jar acme.Trainer",
            "", "Loaders of Penstock are found by themselves. The input of another library is timed if you name the"
                + " method that returns a step's input, or an Iterator or Iterable of it.",
            "", "The report is there when the trainer ends, also by Ctrl-C. The exit status is the trainer's."})
final class RunCommand implements Callable<Integer> {

    /** Less than the process is held when it is interrupted. */
    private static final long GRACE_SECONDS = 12;

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "COMMAND",
            description = "The command that starts the trainer, behind --: java and its arguments, on Java 25 or"
                    + " newer.")
    @SuppressWarnings("NullAway.Init")
    private List<String> command;

    @Option(names = "--report", paramLabel = "DIR", defaultValue = "penstock-run",
            description = "Write the report to DIR; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @Option(names = "--input", paramLabel = "CLASS#METHOD",
            description = "Also time this method; may be given several times.")
    private List<String> inputs = List.of();

    @Option(names = "--watch", paramLabel = "PORT|FOLDER", description = "Offer the run to penstock watch.")
    private @Nullable String watch;

    @Option(names = "--baseline", paramLabel = "FILE", description = "Compare the run with its past, which FILE keeps.")
    private @Nullable Path baseline;

    @Override
    public Integer call() throws IOException {
        Path program = Path.of(command.getFirst()).getFileName();
        if (program == null || !program.toString().matches("java(\\.exe)?")) {
            throw new UsageException("found the command '" + command.getFirst() + "', expected java: for a script, set"
                    + " JAVA_TOOL_OPTIONS=-javaagent:JAR=ARGUMENTS (docs/monitoring.md)");
        }
        for (String input : inputs) {
            if (!input.matches("[^#/]+#[^#]+")) {
                throw new UsageException("--input: found '" + input + "', expected CLASS#METHOD, such as"
                        + " com.acme.Data#next");
            }
        }
        UsageException.requireOutputFolder("--report", folder);
        UsageException.requireFile("--baseline", baseline);
        Path written = folder.resolve(Summary.JSON_FILE);
        Files.deleteIfExists(written);
        Path jar = Files.createTempFile("penstock-agent", ".jar");
        try {
            writeAgent(jar);
            int exitCode = run(jar);
            if (!report.isJson()) {
                report.print(Files.exists(written) ? "Report written to " + folder + ": open "
                        + folder.resolve(DiagnosisOptions.HTML_FILE) + ", or run\n    penstock report "
                        + ShellText.quoted(folder) + "\n"
                        : "No report: the trainer took no batch from a Penstock loader or an --input.\n");
            } else if (Files.exists(written)) {
                report.print(Summary.read(written).toMap());
            }
            return exitCode;
        } finally {
            Files.deleteIfExists(jar);
        }
    }

    private int run(Path jar) throws IOException {
        List<String> all = new ArrayList<>(command);
        all.add(1, "-javaagent:" + jar + "=" + arguments());
        Process trainer = new ProcessBuilder(all).inheritIO().start();
        try {
            return trainer.waitFor();
        } catch (InterruptedException _) {
            trainer.destroy();              // Ctrl-C reached it too; a signal to this process alone did not
            try {
                if (!trainer.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
                    trainer.destroyForcibly();
                }
            } catch (InterruptedException _) {
                trainer.destroyForcibly();
            }
            return ExitCode.INTERRUPTED;
        }
    }

    private String arguments() {
        Stream<String> given = Stream.concat(Stream.of("report=" + escaped(folder.toAbsolutePath().toString())),
                inputs.stream().map(input -> "input=" + escaped(input)));
        return Stream.concat(given, Stream.of(watch == null ? "" : "watch=" + escaped(watch),
                baseline == null ? "" : "baseline=" + escaped(baseline.toAbsolutePath().toString())))
                .filter(argument -> !argument.isEmpty()).collect(Collectors.joining(","));
    }

    private static String escaped(String value) {
        return value.replace("%", "%25").replace(",", "%2C");
    }

    /** A jar that only names the agent, and where its classes and those of the engine are. */
    static void writeAgent(Path jar) throws IOException {
        var manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(new Attributes.Name("Premain-Class"), TrainerAgent.class.getName());
        attributes.put(Attributes.Name.CLASS_PATH, Stream.of(TrainerAgent.class, DataLoader.class)
                .map(RunCommand::place).distinct().collect(Collectors.joining(" ")));
        try (OutputStream file = Files.newOutputStream(jar); var _ = new JarOutputStream(file, manifest)) {
            file.flush();
        }
    }

    private static String place(Class<?> of) {
        try {
            return new URI(of.getProtectionDomain().getCodeSource().getLocation().toString()).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException("found a place of classes that is no URI", e);
        }
    }
}
