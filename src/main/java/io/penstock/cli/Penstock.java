package io.penstock.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command line. */
@Command(
        name = "penstock",
        description = "Brings batches to a GPU: tokenizes text, and streams stores of tokens and tensors.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {QuickstartCommand.class, TokenizeCommand.class, InspectCommand.class, BatchesCommand.class,
            StreamCommand.class, ConvertCommand.class, VerifyCommand.class, ChecksumCommand.class,
            StateCommand.class, DevicesCommand.class},
        footer = {"", "Exit status: 0 success, 1 failure, 2 wrong usage, 3 bad input, 130 interrupted."})
public final class Penstock implements Runnable {

    @Spec
    private CommandSpec spec;

    @Option(names = "--stacktrace", scope = ScopeType.INHERIT,
            description = "On failure print where in the code it happened (also: environment PENSTOCK_STACKTRACE).")
    private boolean stackTrace;

    private Penstock() {
    }

    /**
     * Runs a command and ends the process with its exit status.
     *
     * @param args the command and its arguments
     */
    public static void main(String[] args) {
        Interruption interruption = Interruption.ofCurrentThread();
        int exitCode;
        try {
            exitCode = commandLine()
                    .setOut(utf8Writer(FileDescriptor.out))
                    .setErr(utf8Writer(FileDescriptor.err))
                    .execute(args);
        } finally {
            interruption.finished();
        }
        System.exit(exitCode);
    }

    /** The whole command line; tests run it with writers of their own. */
    static CommandLine commandLine() {
        Penstock penstock = new Penstock();
        return new CommandLine(penstock)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true)
                .setParameterExceptionHandler((e, _) -> wrongUsage(e))
                .setExecutionExceptionHandler((e, command, _) ->
                        Failure.of(e).report(command.getErr(), penstock.printsStackTrace()));
    }

    private boolean printsStackTrace() {
        return stackTrace || System.getenv("PENSTOCK_STACKTRACE") != null;
    }

    private static int wrongUsage(ParameterException e) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("penstock: " + e.getMessage().lines().findFirst().orElse("wrong usage") + " (try '"
                + command.getCommandSpec().qualifiedName() + " --help')");
        err.flush();
        return ExitCode.WRONG_USAGE;
    }

    private static PrintWriter utf8Writer(FileDescriptor descriptor) {
        return new PrintWriter(new FileOutputStream(descriptor), false, StandardCharsets.UTF_8);
    }

    /** Without a command there is nothing to do. */
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}
