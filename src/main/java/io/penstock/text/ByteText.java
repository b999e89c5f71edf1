// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.util.Locale;
import java.util.Map;

/** Sizes of memory, in units that are powers of 1024. */
public final class ByteText {

    private static final Map<String, Double> UNITS = Map.of("", 1.0, "K", 0x1p10, "M", 0x1p20, "G", 0x1p30, "T",
            0x1p40);

    /** A size: {@code 512 B}, {@code 128.1 KiB}. */
    public static String of(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        int unit = Math.min(4, (63 - Long.numberOfLeadingZeros(bytes)) / 10);
        return String.format(Locale.ROOT, "%.1f %ciB", bytes / Math.pow(1024, unit), "KMGT".charAt(unit - 1));
    }

    /** Reads {@code 64M}, {@code 2G} or a number of bytes, which is positive. */
    public static long read(String text) {
        return Amount.read(text, UNITS, "bytes such as 1048576, 64M or 2G");
    }
}
