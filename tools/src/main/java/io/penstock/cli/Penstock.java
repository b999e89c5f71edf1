// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.dataset.Packing;
import io.penstock.diagnose.report.Outcome;
import io.penstock.diagnose.report.TraceWindow;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.TransferMode;
import io.penstock.tokenize.CorpusShard;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

@Command(
        name = "penstock",
        description = "Loads training data for GPUs: tokenizes text, and streams batches of tokens, tensors and"
                + " records.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {"", "'penstock java FILE.java' runs a program of your own with Penstock on its class path.",
            "", "Exit status: 0 success; 1 failure, also if standard output cannot be written; 2 wrong usage;"
                + " 3 bad input; 130 interrupted; 141 standard output is a pipe that its reader closed."})
public final class Penstock implements Runnable {

    /** By name, in the order of the help text. */
    static final Map<String, Class<?>> COMMANDS = commands();

    /** Of java.logging, and of the JDK without it: what the engine logs is a line, as all else on standard error. */
    private static final List<String> LOG_FORMATS = List.of("java.util.logging.SimpleFormatter.format",
            "jdk.system.logger.format");

    private static final List<String> VERSION = List.of("-V", "--version");

    @Option(names = "--stacktrace", scope = ScopeType.INHERIT,
            description = "Print a stack trace on failure (also: environment variable PENSTOCK_STACKTRACE).")
    private boolean stackTrace;

    private Penstock() {
    }

    /** Runs a command and ends the process with its exit status. */
    public static void main(String[] args) {
        LOG_FORMATS.forEach(name -> System.getProperties().putIfAbsent(name, "%4$s: %5$s%6$s%n"));
        Interruption interruption = Interruption.ofCurrentThread();
        int exitCode;
        try {
            exitCode = commandLine(args)
                    .setOut(new Output(new FileOutputStream(FileDescriptor.out)))
                    .setErr(new Output(new FileOutputStream(FileDescriptor.err)))
                    .execute(args);
        } finally {
            interruption.finished();
        }
        System.exit(exitCode);
    }

    private static Map<String, Class<?>> commands() {
        Map<String, Class<?>> commands = new LinkedHashMap<>();
        commands.put("quickstart", QuickstartCommand.class);
        commands.put("tokenize", TokenizeCommand.class);
        commands.put("chat", ChatCommand.class);
        commands.put("manifest", ManifestCommand.class);
        commands.put("merge", MergeCommand.class);
        commands.put("inspect", InspectCommand.class);
        commands.put("batches", BatchesCommand.class);
        commands.put("explain", ExplainCommand.class);
        commands.put("stream", StreamCommand.class);
        commands.put("run", RunCommand.class);
        commands.put("watch", WatchCommand.class);
        commands.put("report", ReportCommand.class);
        commands.put("compare", CompareCommand.class);
        commands.put("stats", StatsCommand.class);
        commands.put("tune", TuneCommand.class);
        commands.put("augment", AugmentCommand.class);
        commands.put("clips", ClipsCommand.class);
        commands.put("convert", ConvertCommand.class);
        commands.put("fetch", FetchCommand.class);
        commands.put("cache", CacheCommand.class);
        commands.put("verify", VerifyCommand.class);
        commands.put("checksum", ChecksumCommand.class);
        commands.put("state", StateCommand.class);
        commands.put("audit", AuditCommand.class);
        commands.put("devices", DevicesCommand.class);
        commands.put("new", NewCommand.class);
        return Collections.unmodifiableMap(commands);
    }

    /**
     * The command line for these arguments; tests run it with writers of their own. If the arguments name a command,
     * only that command is registered: reading the options of all others takes longer than opening a store.
     */
    static CommandLine commandLine(String... args) {
        Penstock penstock = new Penstock();
        CommandLine line = new CommandLine(penstock);
        String named = firstWord(args);
        if (COMMANDS.containsKey(named)) {
            line.addSubcommand(COMMANDS.get(named));
        } else if (args.length != 1 || !VERSION.contains(args[0])) {
            COMMANDS.values().forEach(line::addSubcommand);
        }
        if (named.equals("help")) {
            line.addSubcommand(new CommandLine.HelpCommand());
        }
        HelpGroups.install(line);
        line.registerConverter(Packing.Method.class, new Choice<>(List.of(Packing.Method.values())))
                .registerConverter(BadSamplePolicy.class, new Choice<>(List.of(BadSamplePolicy.values())))
                .registerConverter(TransferMode.class,
                        new Choice<>(List.of(TransferMode.AUTO, TransferMode.IN_PLACE, TransferMode.COPY)))
                .registerConverter(Outcome.class,
                        new Choice<>(List.of(Outcome.REGRESSION, Outcome.MIXED, Outcome.INCONCLUSIVE)))
                .registerConverter(CorpusShard.class, text -> AmountText.converted(text, CorpusShard::parse))
                .registerConverter(TraceWindow.class, text -> AmountText.converted(text, TraceWindow::of));
        ChatOptions.register(line);
        return line.setCaseInsensitiveEnumValuesAllowed(true)
                .setExpandAtFiles(false)                            // --augment @FILE is that option's
                .setUsageHelpAutoWidth(true)
                .setHelpFactory(HelpText::new)
                .setExecutionStrategy(Penstock::run)
                .setParameterExceptionHandler((e, _) -> wrongUsage(e.getCommandLine(), e))
                .setExecutionExceptionHandler((e, command, _) -> e instanceof UsageException
                        ? wrongUsage(command, e)
                        : Failure.of(e).forUserOf(command).report(command.getErr(), penstock.printsStackTrace()));
    }

    private static String firstWord(String... args) {
        for (String arg : args) {
            if (!arg.startsWith("-")) {
                return arg;
            }
        }
        return "";
    }

    private boolean printsStackTrace() {
        return stackTrace || System.getenv("PENSTOCK_STACKTRACE") != null;
    }

    private static int wrongUsage(CommandLine command, Exception e) {
        PrintWriter err = command.getErr();
        err.println("penstock: " + WrongUsage.of(command, e) + " (try '" + command.getCommandSpec().qualifiedName()
                + " --help')");
        err.flush();
        return ExitCode.WRONG_USAGE;
    }

    /** Runs the command, or prints help or version; fails if the output was not written. */
    private static int run(CommandLine.ParseResult parsed) {
        CommandLine line = parsed.commandSpec().commandLine();
        int exitCode;
        try {
            exitCode = new CommandLine.RunLast().execute(parsed);
        } catch (Error e) {                                         // such as one of memory: a line, too
            throw new CommandLine.ExecutionException(line, e.toString(), e);
        }
        try {
            Output.check(line.getOut());
            return exitCode;
        } catch (IOException e) {
            throw new CommandLine.ExecutionException(line, e.getMessage(), e);
        }
    }

    /** Without a command there is nothing to do. */
    @Override
    public void run() {
        throw new UsageException("missing command");
    }
}
