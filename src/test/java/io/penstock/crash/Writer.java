// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Something that writes files, as the harness drives it. It has two generations of content, and replaces the first by
 * the second.
 *
 * @param name what it is called in the table
 * @param promise what it promises once it has returned
 * @param files the names of the files that its messages may speak of
 * @param setup puts into a folder what must be there before a generation is written
 * @param write writes a generation
 * @param read reads what is there
 */
record Writer(String name, Promise promise, List<String> files, Setup setup, Write write, Read read) {

    /** What a writer promises once it has returned. */
    enum Promise {
        /** What it wrote is there, also after a power cut. */
        LASTS,
        /** Nothing: what it writes is made again where it lacks, and a failure is no failure of its caller. */
        NOTHING
    }

    /** Puts into a folder what must be there. */
    interface Setup {
        void prepare(Path folder, int generation) throws IOException;
    }

    /** Writes. */
    interface Write {
        void write(Path folder, int generation, boolean replace) throws Exception;
    }

    /** Reads. */
    interface Read {
        /**
         * What a reader finds.
         *
         * @return digests of content, of each part that may be old or new by itself; without those that are absent
         * @throws IOException if a part is there and is refused
         */
        Map<String, String> read(Path folder) throws IOException;
    }

    Writer(String name, Promise promise, String file, Write write, Read read) {
        this(name, promise, List.of(file), (_, _) -> { }, write, read);
    }

    @Override
    public String toString() {
        return name;
    }
}
