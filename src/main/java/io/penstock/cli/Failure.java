// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.util.Objects.requireNonNull;

import io.penstock.codec.DecodeLimitException;
import io.penstock.convert.ConversionException;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.file.NotRegularFileException;
import io.penstock.loader.BatchException;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.os.ThreadLimitException;
import io.penstock.os.ThreadStart;
import io.penstock.sampling.StateMismatchException;
import io.penstock.store.StoreProviderException;
import io.penstock.stream.LaneEndException;
import io.penstock.tokenize.CorpusException;
import io.penstock.tokenize.VocabularyException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;

/**
 * A command's failure, for its user: one line without the program's name, an exit status, and the cause for a stack
 * trace.
 */
record Failure(int exitCode, String line, Throwable cause) {

    static Failure of(Throwable e) {
        return switch (e) {
            case UncheckedIOException unchecked -> of(requireNonNull(unchecked.getCause()));
            case CorpusException _, MalformedStoreException _, ConversionException _, BadInputException _,
                    StateMismatchException _, NotRegularFileException _, DecodeLimitException _,
                    VocabularyException _ ->
                    new Failure(ExitCode.BAD_INPUT, described(e), e);
            case LaneEndException ended -> new Failure(ExitCode.FAILURE, ended.what()
                    + ": end all ranks before it (--steps; of batches --limit), or leave out --lanes, so that every"
                    + " rank reads everything and knows the end", e);
            case BatchException unread -> new Failure(ofBatch(unread.getCause()), described(unread), e);
            case NoSuchFileException missing ->
                    new Failure(ExitCode.BAD_INPUT, missing.getFile() + ": no such file", e);
            case FileAlreadyExistsException exists -> new Failure(ExitCode.FAILURE, fileProblem(exists,
                    "already exists"), e);
            case AccessDeniedException denied -> new Failure(ExitCode.FAILURE, fileProblem(denied,
                    "permission denied"), e);
            case FileSystemException other -> new Failure(ExitCode.FAILURE, fileProblem(other, "cannot be used"), e);
            case InterruptedException _, LoaderInterruptedException _, ClosedByInterruptException _,
                    InterruptedIOException _ ->
                    new Failure(ExitCode.INTERRUPTED, "interrupted", e);
            case DeviceUnavailableException _, DeviceException _, IOException _, UnsupportedOperationException _,
                    StoreProviderException _, ThreadLimitException _ ->
                    new Failure(ExitCode.FAILURE, described(e), e);
            case OutOfMemoryError threads when ThreadStart.isRefusedBy(threads) ->
                    new Failure(ExitCode.FAILURE, "cannot start a thread" + ThreadStart.limit(), e);
            case OutOfMemoryError _ -> new Failure(ExitCode.FAILURE,
                    "not enough memory (" + e.getMessage() + "); set PENSTOCK_JAVA_OPTS=-Xmx8g for a larger heap", e);
            default -> new Failure(ExitCode.FAILURE, "internal error: " + e + " (--stacktrace shows where)", e);
        };
    }

    /** A sample that cannot be read is usually the fault of a file that shrank, or of the disk. */
    private static int ofBatch(@Nullable Throwable cause) {
        return cause instanceof UncheckedIOException ? ExitCode.BAD_INPUT : ExitCode.FAILURE;
    }

    private static String fileProblem(FileSystemException e, String problem) {
        return e.getFile() + ": " + (e.getReason() == null ? problem : e.getReason());
    }

    private static String described(Throwable e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    int report(PrintWriter err, boolean stackTrace) {
        err.println("penstock: " + line.lines().reduce((first, second) -> first + " " + second.strip()).orElse(""));
        if (stackTrace) {
            cause.printStackTrace(err);
        }
        err.flush();
        return exitCode;
    }
}
