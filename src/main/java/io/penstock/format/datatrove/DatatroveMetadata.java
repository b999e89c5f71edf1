package io.penstock.format.datatrove;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.memory.DType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The {@code .metadata} beside a {@code .ds}. Its first line is the tokenizer's name, {@code |}, and the bytes of a
 * token; a name may have a {@code |} of its own, so the last one counts. The lines after it are for people.
 */
final class DatatroveMetadata {

    private static final int MAX_LINE_BYTES = 1 << 16;

    private DatatroveMetadata() {
    }

    /** The dtype that the file names, or null if it names none, as early versions did not. */
    static DType dtype(Location file) throws IOException {
        String line = firstLine(file);
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

    private static String firstLine(Location file) throws IOException {
        byte[] head;
        try (InputStream in = file.newInputStream()) {
            head = in.readNBytes(MAX_LINE_BYTES);
        }
        int end = 0;
        while (end < head.length && head[end] != '\n') {
            end++;
        }
        if (end == MAX_LINE_BYTES) {
            throw new MalformedStoreException(file, end, "a first line of " + end + " bytes or more", "a short one");
        }
        // One char a byte, so that an index into the line is an offset in the file.
        return new String(head, 0, end, StandardCharsets.ISO_8859_1);
    }
}
