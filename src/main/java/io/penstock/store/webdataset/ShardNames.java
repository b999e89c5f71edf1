package io.penstock.store.webdataset;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the shards of a dataset are called: a file's name, with {@code %d} or {@code %06d} where their number stands,
 * from 0. Without a number there is one shard.
 *
 * @param pattern the name as it was told
 * @param before what comes before the number; without one, the whole name
 * @param number the {@code %d}; null if there is none
 * @param after what follows the number
 */
record ShardNames(String pattern, String before, String number, String after) {

    private static final Pattern NUMBER = Pattern.compile("%(0[1-9])?d");
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");
    private static final int MAX_WIDTH = 9;

    static ShardNames of(String pattern) {
        Matcher matcher = NUMBER.matcher(pattern);
        return matcher.find()
                ? new ShardNames(pattern, pattern.substring(0, matcher.start()), matcher.group(),
                        pattern.substring(matcher.end()))
                : new ShardNames(pattern, pattern, null, "");
    }

    boolean isNumbered() {
        return number != null;
    }

    String name(int shard) {
        return number == null ? before : before + String.format(number, shard) + after;
    }

    /** All patterns by which a shard of that name may have been written; the name itself is one. */
    static Set<String> patternsOf(String name) {
        Set<String> patterns = new LinkedHashSet<>();
        patterns.add(name);
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
