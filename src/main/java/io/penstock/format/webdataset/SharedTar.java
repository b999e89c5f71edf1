// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.RangeFetcher;
import java.io.IOException;

/** A mapped shard, unmapped when its reader and all its samples have released it. For one thread. */
final class SharedTar {

    private static final long AHEAD_BYTES = 64 << 20;

    private final MappedFile file;
    private int users = 1;

    private SharedTar(MappedFile file) {
        this.file = file;
    }

    static SharedTar open(Location shard) throws IOException {
        return new SharedTar(shard.open());
    }

    MappedFile file() {
        return file;
    }

    /** Starts fetching what follows a position, if the file is remote. */
    static void fetchAhead(MappedFile file, long position) {
        RangeFetcher fetcher = file.fetcher();
        if (fetcher != null) {
            fetcher.prefetch(position, Math.min(AHEAD_BYTES, file.byteSize() - position));
        }
    }

    /** Tells whether a reader at a position of a remote file has so little before it that the next one should begin. */
    boolean endsSoon(long position) {
        return file.fetcher() != null && file.byteSize() - position <= AHEAD_BYTES;
    }

    void retain() {
        users++;
    }

    void release() {
        users--;
        if (users == 0) {
            file.close();
        }
    }
}
