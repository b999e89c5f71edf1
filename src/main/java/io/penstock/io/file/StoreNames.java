// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.file;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names that a store may be written as, given one of its files: readers look there for its committed folder. */
public final class StoreNames {

    private static final Pattern DIGITS = Pattern.compile("[0-9]+");
    private static final int MAX_WIDTH = 9;
    /** The longest file name; a shard pattern may be far longer. */
    private static final int MAX_NAME = 255;
    /** The most endings that a sidecar has: {@code x.tar.gz.crc32c}. */
    private static final int MAX_ENDINGS = 3;

    /**
     * Returns all names that the file's writer may have been given: the file's name with and without its last endings,
     * each also as a pattern of numbered files. {@code corpus.bin.crc32c} belongs to the store {@code corpus}.
     */
    static Set<String> of(String file) {
        Set<String> names = new LinkedHashSet<>();
        String name = file.length() > MAX_NAME ? "" : file;
        for (int endings = 0; endings <= MAX_ENDINGS && !name.isEmpty(); endings++) {
            names.add(name);
            names.addAll(patternsOf(name));
            name = name.substring(0, Math.max(name.lastIndexOf('.'), 0));
        }
        return names;
    }

    /**
     * Returns all patterns that may have named a numbered file: its name with {@code %d} or {@code %06d} for a number;
     * none if the name has no number.
     */
    public static Set<String> patternsOf(String name) {
        Set<String> patterns = new LinkedHashSet<>();
        Matcher digits = DIGITS.matcher(name);
        while (digits.find()) {
            String before = name.substring(0, digits.start());
            String after = name.substring(digits.end());
            int count = digits.end() - digits.start();
            boolean padded = count > 1 && digits.group().charAt(0) == '0';
            // A number wider than its field is written in full.
            for (int width = padded ? count : 1; width <= Math.min(count, MAX_WIDTH); width++) {
                patterns.add(before + "%0" + width + "d" + after);
            }
            if (!padded) {
                patterns.add(before + "%d" + after);
            }
        }
        return patterns;
    }
}
