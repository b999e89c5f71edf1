// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** What a process writes. Reading never waits: it gives 0 bytes while there are none. Closing ends the process. */
final class CommandOutput extends InputStream {

    private final List<String> command;
    private final Process process;
    private final InputStream out;

    /** Starts a process. What it writes to its standard error goes to this process's. */
    CommandOutput(List<String> command) throws IOException {
        this.command = command;
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        out = process.getInputStream();
        process.getOutputStream().close();
    }

    @Override
    public int read() {
        throw new UnsupportedOperationException("one byte of a process");
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        boolean isAlive = process.isAlive();
        if (isAlive && out.available() == 0) {
            return 0;
        }
        int read = out.read(into, offset, length);
        if (read < 0 && process.isAlive()) {
            return 0;                                  // it has closed its output; the status is not known yet
        }
        if (read < 0 && process.exitValue() != 0) {
            throw new IOException(command + ": found exit status " + process.exitValue() + ", expected 0");
        }
        return read;
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        out.close();
    }
}
