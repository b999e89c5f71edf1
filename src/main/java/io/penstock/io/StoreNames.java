package io.penstock.io;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a store may be written as, by the name of one of its files: where a reader looks for its committed folder. */
public final class StoreNames {

    private static final Pattern DIGITS = Pattern.compile("[0-9]+");
    private static final int MAX_WIDTH = 9;
    /** No file has a longer name; a pattern of shards may be far longer. */
    private static final int MAX_NAME = 255;
    /** As many as a file has that describes another one: {@code x.tar.gz.crc32c}. */
    private static final int MAX_ENDINGS = 3;

    private StoreNames() {
    }

    /**
     * All names that a writer of such a file may have been given: the file's own, and what is left of it without its
     * last endings, each as it is and as the patterns of a numbered file. {@code corpus.bin.crc32c} is written with the
     * store {@code corpus}.
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
     * All patterns by which a numbered file may have been written: its name with {@code %d} or {@code %06d} where a
     * number stands.
     *
     * @param name the file's name
     * @return the patterns; none if there is no number in the name
     */
    public static Set<String> patternsOf(String name) {
        Set<String> patterns = new LinkedHashSet<>();
        Matcher digits = DIGITS.matcher(name);
        while (digits.find()) {
            String before = name.substring(0, digits.start());
            String after = name.substring(digits.end());
            int count = digits.end() - digits.start();
            boolean padded = count > 1 && digits.group().charAt(0) == '0';
            // A number that is wider than its place stands there in full.
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
