package io.penstock.store.integrity;

import io.penstock.io.Location;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A file that was checked.
 *
 * @param file the file
 * @param bytes its size
 * @param checks by what: any of {@code structure}, {@code crc32c}, {@code sha256}, {@code content} and what its format
 *     calls its own checksums, in that order
 */
public record CheckedFile(Location file, long bytes, List<String> checks) {

    /** Copies. */
    public CheckedFile {
        checks = List.copyOf(checks);
    }

    /**
     * Whether any checksum covers its content: a structure that is whole says little of what it holds.
     *
     * @return true if something other than the structure was checked
     */
    public boolean hasChecksum() {
        return checks.stream().anyMatch(check -> !check.equals("structure"));
    }

    /**
     * The file as JSON writers take it.
     *
     * @return its fields, in order
     */
    public Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("file", file.toString());
        map.put("bytes", bytes);
        map.put("checks", checks);
        return map;
    }
}
