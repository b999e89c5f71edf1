// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.util.Objects.requireNonNull;

import io.penstock.error.PenstockException;
import io.penstock.io.publish.StagingFolder;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.os.PathBytes;
import io.penstock.os.ThreadStart;
import io.penstock.stream.LaneEndException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;

/**
 * A command's failure, for its user: one line without the program's name, an exit status, and the cause for a stack
 * trace.
 */
record Failure(int exitCode, String line, Throwable cause) {

    private static final String LARGER_HEAP = "set PENSTOCK_JAVA_OPTS=-Xmx8g for a larger heap";

    static Failure of(Throwable e) {
        return switch (e) {
            case UncheckedIOException unchecked -> of(requireNonNull(unchecked.getCause()));
            case CommandLine.ExecutionException error when error.getCause() != null -> of(error.getCause());
            case LaneEndException ended -> new Failure(ExitCode.FAILURE, ended.what()
                    + ": end all ranks before it (--steps; of batches --limit), or leave out --lanes, so that every"
                    + " rank reads everything and knows the end", e);
            case LoaderInterruptedException _ -> new Failure(ExitCode.INTERRUPTED, "interrupted", e);
            case PenstockException known -> new Failure(known.isBadInput() ? ExitCode.BAD_INPUT : ExitCode.FAILURE,
                    described(known), e);
            case NoSuchFileException missing ->
                    new Failure(ExitCode.BAD_INPUT, missing.getFile() + ": no such file", e);
            case FileAlreadyExistsException exists -> new Failure(ExitCode.FAILURE, fileProblem(exists,
                    "already exists"), e);
            case AccessDeniedException denied -> new Failure(ExitCode.FAILURE, fileProblem(denied,
                    "permission denied"), e);
            case FileSystemException other -> new Failure(ExitCode.FAILURE, fileProblem(other, "cannot be used"), e);
            case InvalidPathException path -> new Failure(ExitCode.BAD_INPUT, PathBytes.explain(path), e);
            case Output.PipeClosedException _ -> new Failure(ExitCode.PIPE_CLOSED, described(e), e);
            case InterruptedException _, ClosedByInterruptException _, InterruptedIOException _ ->
                    new Failure(ExitCode.INTERRUPTED, "interrupted", e);
            case IOException full when isOfMemory(full) ->
                    new Failure(ExitCode.FAILURE, described(e) + "; " + LARGER_HEAP, e);
            case IOException wrapped when wrapped.getCause() instanceof Exception cause
                    && of(cause).exitCode == ExitCode.BAD_INPUT ->
                    new Failure(ExitCode.BAD_INPUT, described(e), e);
            case IOException _, UnsupportedOperationException _ ->
                    new Failure(ExitCode.FAILURE, described(e), e);
            case OutOfMemoryError threads when ThreadStart.isRefusedBy(threads) ->
                    new Failure(ExitCode.FAILURE, "cannot start a thread" + ThreadStart.limit(), e);
            case OutOfMemoryError _ -> new Failure(ExitCode.FAILURE,
                    "not enough memory (" + e.getMessage() + "); " + LARGER_HEAP, e);
            case RuntimeException failed when isOfMemory(failed) -> of(requireNonNull(failed.getCause()));
            default -> new Failure(ExitCode.FAILURE, "internal error: " + e + " (--stacktrace shows where)", e);
        };
    }

    private static boolean isOfMemory(Throwable e) {
        return e.getCause() != null && (e.getCause() instanceof OutOfMemoryError || isOfMemory(e.getCause()));
    }

    private static String fileProblem(FileSystemException e, String problem) {
        return e.getFile() + ": " + (e.getReason() == null ? problem : e.getReason());
    }

    private static String described(Throwable e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    /** The same, with the option of the command that helps. */
    Failure forUserOf(CommandLine command) {
        return command.getCommandSpec().findOption("--force") != null && line.endsWith(StagingFolder.NOT_REPLACED)
                ? new Failure(exitCode, line.substring(0, line.length() - StagingFolder.NOT_REPLACED.length())
                        + "exists already; --force replaces it", cause)
                : this;
    }

    /** Reports the failure and returns its exit status. A reader that has enough and closes its pipe is no failure. */
    int report(PrintWriter err, boolean stackTrace) {
        if (exitCode == ExitCode.PIPE_CLOSED && !stackTrace) {
            return exitCode;
        }
        err.println("penstock: " + line.lines().reduce((first, second) -> first + " " + second.strip()).orElse(""));
        if (stackTrace) {
            cause.printStackTrace(err);
        }
        err.flush();
        return exitCode;
    }
}
