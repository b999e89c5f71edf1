package io.penstock.format.mds;

import io.penstock.io.Location;
import java.util.List;
import java.util.Map;

/**
 * A shard, as the index has it.
 *
 * @param samples in it
 * @param raw its file as it is when it is not compressed
 * @param zip its compressed file; null if there is none
 * @param compression how {@code zip} is compressed, with a level perhaps; null if there is none
 * @param hashes the algorithms that its writer was told
 */
record MdsShard(long samples, Part raw, Part zip, String compression, List<String> hashes) {

    /**
     * A file of a shard.
     *
     * @param name its path in the dataset's folder, as the index has it
     * @param path the path
     * @param bytes its size
     * @param hashes hexadecimal digests by algorithm, as Python's hashlib and xxhash name them
     */
    record Part(String name, Location path, long bytes, Map<String, String> hashes) {
    }
}
