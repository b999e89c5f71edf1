// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.text.MessageFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What a logger of the engine was told while this was open. */
public final class CapturedLog extends Handler implements AutoCloseable {

    private final Logger logger;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    /** Begins to listen to a class's logger. */
    public CapturedLog(String className) {
        logger = Logger.getLogger(className);
        logger.addHandler(this);
    }

    /** The messages so far. */
    public List<String> lines() {
        return lines;
    }

    /** Waits for a message that contains some text. */
    public String await(String text) {
        while (true) {
            for (String line : lines) {
                if (line.contains(text)) {
                    return line;
                }
            }
            if (Thread.interrupted()) {
                throw new IllegalStateException("interrupted while waiting for: " + text + "; so far: " + lines);
            }
            Thread.yield();
        }
    }

    @Override
    public void publish(LogRecord entry) {
        lines.add(entry.getParameters() == null ? entry.getMessage()
                : MessageFormat.format(entry.getMessage(), entry.getParameters()));
    }

    @Override
    public void flush() {
        // Nothing is buffered.
    }

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
