package io.penstock.store.integrity;

import io.penstock.io.Location;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is wrong with a file.
 *
 * @param file the file
 * @param check what found it: {@code structure}, {@code crc32c}, {@code sha256}, {@code content}, or what a format
 *     calls its own checksums
 * @param firstBlock the first bad block, counted in blocks of the check; -1 if it is not known to the block
 * @param firstByte the first byte of what is bad; -1 if that is not known
 * @param endByte the byte behind what is bad; -1 if that is not known
 * @param message what was found and what was expected: one line that names the file
 */
public record Fault(Location file, String check, long firstBlock, long firstByte, long endByte, String message) {

    /**
     * A fault of a file as a whole.
     *
     * @param file the file
     * @param check what found it
     * @param message what was found and what was expected
     */
    public Fault(Location file, String check, String message) {
        this(file, check, -1, -1, -1, message);
    }

    /**
     * The fault as JSON writers take it.
     *
     * @return its fields, in order; without those that are not known
     */
    public Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("file", file.toString());
        map.put("check", check);
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
