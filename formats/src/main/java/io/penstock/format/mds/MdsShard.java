// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.io.Location;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A shard, as the index describes it.
 *
 * @param columns for each value of a sample, in their order, the position of its column in the index
 * @param zip the compressed file; null if there is none
 * @param compression the compression and perhaps its level, such as {@code zstd:7}; not null if {@code zip} is not
 * @param hashes the algorithms that the writer was given
 */
record MdsShard(List<Integer> columns, long samples, Part raw, @Nullable Part zip, @Nullable String compression,
        List<String> hashes) {

    /**
     * A file of a shard.
     *
     * @param name its path in the dataset's folder, from the index
     * @param hashes hexadecimal digests by algorithm, in the names of Python's hashlib and xxhash
     */
    record Part(String name, Location path, long bytes, Map<String, String> hashes) {
    }
}
