// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.io.Location;
import io.penstock.json.Json;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A fault in a file.
 *
 * @param file the file
 * @param check the check that found it: {@code structure}, {@code crc32c}, {@code sha256}, {@code content}, or a
 *     format's own checksum
 * @param firstBlock the first bad block, in blocks of the check; -1 if unknown
 * @param firstByte the first bad byte; -1 if unknown
 * @param endByte the byte after the last bad one; -1 if unknown
 * @param message one line that names the file, what was found and what was expected
 */
public record Fault(Location file, String check, long firstBlock, long firstByte, long endByte, String message) {

    /**
     * Creates a fault of a whole file.
     *
     * @param file the file
     * @param check the check that found it
     * @param message what was found and what was expected
     */
    public Fault(Location file, String check, String message) {
        this(file, check, -1, -1, -1, message);
    }

    /** {@return the fault in JSON form: the known fields, in order} */
    public Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> map = Json.members("file", file.toString(), "check", check);
        if (firstBlock >= 0) {
            map.put("first_block", firstBlock);
        }
        if (firstByte >= 0) {
            map.put("first_byte", firstByte);
            map.put("end_byte", endByte);
        }
        map.put("message", message);
        return map;
    }
}
