// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

import io.penstock.io.FetchPhase;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads ranges of one version of a remote object. Thread-safe. */
@FunctionalInterface
public interface ObjectReader {

    /** Takes the bytes of a range, in order and each once. */
    @FunctionalInterface
    interface Sink {

        /**
         * Takes the next bytes.
         *
         * @param bytes valid during the call
         * @throws java.nio.file.FileSystemException if they cannot be stored; reading them again would not help
         * @throws IOException if they cannot be stored
         */
        void accept(ByteBuffer bytes) throws IOException;

        /**
         * Says what the read waits for from now on.
         *
         * @param phase the phase
         */
        default void enter(FetchPhase phase) {
        }

        /** Says that a request was sent; there may be several for one range. */
        default void sent() {
        }
    }

    /**
     * Reads a range.
     *
     * @param offset the first byte
     * @param bytes the number of bytes, at least 1
     * @param sink takes exactly these bytes, if the call succeeds
     * @throws IOException if they cannot be read, or the object has another version now; names the object
     */
    void read(long offset, long bytes, Sink sink) throws IOException;
}
