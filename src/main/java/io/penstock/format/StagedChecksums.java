// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.Location;
import io.penstock.io.publish.StagingFolder;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Checksums of a file in a staging folder, to be published with it. */
public final class StagedChecksums {

    /** Writes the sidecar with the block checksums of a file; returns its name. */
    public static String write(StagingFolder staging, String name) throws IOException {
        BlockChecksums checksums = staging.naming(() -> BlockChecksums.compute(Location.of(staging.resolve(name)),
                BlockChecksums.DEFAULT_BLOCK_BYTES, _ -> { }));
        staging.write(name + BlockChecksums.SUFFIX, MemorySegment.ofArray(checksums.toBytes()));
        return name + BlockChecksums.SUFFIX;
    }
}
