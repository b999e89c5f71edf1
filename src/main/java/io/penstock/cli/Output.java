// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Standard output, in UTF-8, that keeps the exception of a failed write; a {@link PrintWriter} drops it. */
final class Output extends PrintWriter {

    private final Kept kept;

    Output(OutputStream to) {
        this(new Kept(to));
    }

    private Output(Kept kept) {
        super(kept, false, StandardCharsets.UTF_8);
        this.kept = kept;
    }

    /** Fails if a command's output was not written completely: the disk is full, or nobody reads the pipe any more. */
    static void check(PrintWriter out) throws IOException {
        if (out.checkError()) {
            IOException cause = out instanceof Output output ? output.kept.failure : null;
            throw new IOException("cannot write to standard output"
                    + (cause == null || cause.getMessage() == null ? "" : ": " + cause.getMessage()), cause);
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
