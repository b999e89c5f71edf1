// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;

/** A mapped shard, unmapped when its reader and all its samples have released it. For one thread. */
final class SharedTar {

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
