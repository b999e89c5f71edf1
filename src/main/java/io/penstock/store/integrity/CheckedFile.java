// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.io.Location;
import io.penstock.json.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A checked file.
 *
 * @param file the file
 * @param bytes its size
 * @param checks the checks that covered it: any of {@code structure}, {@code crc32c}, {@code sha256}, {@code content}
 *     and the format's own checksums, in that order
 */
public record CheckedFile(Location file, long bytes, List<String> checks) {

    /** Copies. */
    public CheckedFile {
        checks = List.copyOf(checks);
    }

    /** {@return whether any checksum covers the content; a valid structure says little about it} */
    public boolean hasChecksum() {
        return checks.stream().anyMatch(check -> !check.equals("structure"));
    }

    /** {@return the file in JSON form, fields in order} */
    public Map<String, @Nullable Object> toMap() {
        return Json.members("file", file.toString(), "bytes", bytes, "checks", checks);
    }
}
