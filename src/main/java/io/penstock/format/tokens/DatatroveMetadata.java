// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.tokens;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.memory.DType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The {@code .metadata} next to a {@code .ds}. Its first line is the tokenizer's name, {@code |}, and the bytes per
 * token. A name may contain {@code |}, so the last one counts. Later lines are for people.
 */
final class DatatroveMetadata {

    private static final int MAX_LINE_BYTES = 1 << 16;

    /** Returns the dtype of the tokens; null for early versions, which lack it. */
    static @Nullable DType dtype(Location file) throws IOException {
        byte[] head;
        try (InputStream in = file.newInputStream()) {
            head = in.readNBytes(MAX_LINE_BYTES);
        }
        // One char per byte, so that an index into the line is an offset in the file.
        String text = new String(head, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\n');
        if (end < 0 && head.length == MAX_LINE_BYTES) {
            throw new MalformedStoreException(file, head.length, "a first line of " + head.length + " bytes or more",
                    "a short one");
        }
        String line = end < 0 ? text : text.substring(0, end);
        int bar = line.lastIndexOf('|');
        if (bar < 0) {
            return null;
        }
        return switch (line.substring(bar + 1).strip()) {
            case "2" -> DType.U16;
            case "4" -> DType.U32;
            case String size -> throw new MalformedStoreException(file, bar + 1L, "token size '"
                    + size.substring(0, Math.min(size.length(), 20)) + "'", "2 or 4");
        };
    }
}
