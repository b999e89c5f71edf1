// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** A run's losses, {@code step,loss} or {@code step,loss,validation loss} on each line, with all digits. */
final class LossLog implements AutoCloseable {

    private final FileChannel file;

    private LossLog(FileChannel file) {
        this.file = file;
    }

    /**
     * Opens a log to go on after a step. Later lines, of steps that a killed run did after its last checkpoint, are
     * dropped: they are done again.
     *
     * @throws IOException if a line is missing
     */
    static LossLog open(Path path, long step) throws IOException {
        List<String> lines = step == 0 ? List.of() : Files.readAllLines(path);
        if (lines.size() < step) {
            throw new IOException(path + ": found " + lines.size() + " lines, expected at least those of " + step
                    + " steps");
        }
        LossLog log = new LossLog(FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        long kept = 0;
        for (String line : lines.subList(0, (int) step)) {
            kept += line.length() + 1;
        }
        log.file.truncate(kept).position(kept);
        return log;
    }

    void add(long step, double loss) throws IOException {
        write(step + "," + loss + "\n");
    }

    void add(long step, double loss, double validationLoss) throws IOException {
        write(step + "," + loss + "," + validationLoss + "\n");
    }

    private void write(String line) throws IOException {
        file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII)));
    }

    /** Makes the lines so far outlast a power failure, as a checkpoint does. */
    void force() throws IOException {
        file.force(false);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
