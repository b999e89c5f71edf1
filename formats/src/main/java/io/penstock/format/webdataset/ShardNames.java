// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names of a dataset's shards: a file name with {@code %d} or {@code %06d} for the number, from 0. Without a number
 * there is one shard, whose name is {@code before}.
 */
record ShardNames(String pattern, String before, @Nullable String number, String after) {

    private static final Pattern NUMBER = Pattern.compile("%(0[1-9])?d");

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
        return number == null ? before : before + String.format(Locale.ROOT, number, shard) + after;
    }
}
