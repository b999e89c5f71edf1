// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.io.FetchWaits.FetchPhase;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads ranges of one version of a remote object. Thread-safe. */
@FunctionalInterface
public interface ObjectReader {

    /** Takes the bytes of a range, in order and each once. */
    @FunctionalInterface
    interface Sink {

        /**
         * Takes the next bytes, which are valid during the call. A {@link java.nio.file.FileSystemException} means that
         * they cannot be stored, and reading them again would not help.
         */
        void accept(ByteBuffer bytes) throws IOException;

        default void enter(FetchPhase phase) {
        }

        /** Learns that a request was sent; there may be several for one range. */
        default void sent() {
        }
    }

    /**
     * Reads a range of at least 1 byte; the sink takes exactly these bytes, if the call succeeds. An error, also if the
     * object has another version now, names the object.
     */
    void read(long offset, long bytes, Sink sink) throws IOException;
}
