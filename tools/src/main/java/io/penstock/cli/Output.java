// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.os.Posix;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Standard output, in UTF-8, that keeps the exception of a failed write; a {@link PrintWriter} drops it. */
final class Output extends PrintWriter {

    private static final int EPIPE = 32;

    private final Kept kept;

    /** Whoever read standard output has closed it, such as {@code head}. */
    static final class PipeClosedException extends IOException {

        private static final long serialVersionUID = 1;

        PipeClosedException(String message, IOException cause) {
            super(message, cause);
        }
    }

    Output(OutputStream to) {
        this(new Kept(to));
    }

    private Output(Kept kept) {
        super(kept, false, StandardCharsets.UTF_8);
        this.kept = kept;
    }

    /**
     * Fails if a command's output was not written completely.
     *
     * @throws PipeClosedException if nobody reads the pipe any more
     * @throws IOException otherwise, for example if the disk is full
     */
    static void check(PrintWriter out) throws IOException {
        if (out.checkError()) {
            IOException cause = out instanceof Output output ? output.kept.failure : null;
            String reason = cause == null ? null : cause.getMessage();
            String message = "cannot write to standard output" + (reason == null ? "" : ": " + reason);
            throw cause != null && Posix.message(EPIPE).equals(reason) ? new PipeClosedException(message, cause)
                    : new IOException(message, cause);
        }
    }

    private static final class Kept extends FilterOutputStream {

        private @Nullable IOException failure;

        Kept(OutputStream to) {
            super(to);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            try {
                out.write(bytes, from, count);
            } catch (IOException e) {
                throw first(e);
            }
        }

        @Override
        public void flush() throws IOException {
            try {
                out.flush();
            } catch (IOException e) {
                throw first(e);
            }
        }

        private IOException first(IOException e) {
            failure = failure == null ? e : failure;
            return e;
        }
    }
}
