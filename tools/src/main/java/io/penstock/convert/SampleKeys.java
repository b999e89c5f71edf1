// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.dataset.Dataset;
import io.penstock.io.Span;
import io.penstock.store.RecordStore;
import java.nio.charset.StandardCharsets;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The keys of records as samples: the store's keys, if they are names and all are valid, otherwise record numbers,
 * zero-padded to one length.
 */
final class SampleKeys {

    private static final int MIN_DIGITS = 6;

    private final LongFunction<String> names;
    private final long size;
    private final boolean areNamed;
    /** The first record whose name is not a valid key; -1 if all are. */
    private final long unusable;

    SampleKeys(RecordStore store) {
        // Files that differ only in their suffix are one sample; other adjacent records must not be.
        this(store::key, store.size(), store.keys() != RecordStore.Keys.NUMBERS,
                store.keys() == RecordStore.Keys.FILES);
    }

    /** The keys of a dataset's samples. */
    SampleKeys(Dataset samples) {
        this(samples::key, samples.size(), true, false);
    }

    private SampleKeys(LongFunction<String> names, long size, boolean areNamed, boolean mayRepeat) {
        this.names = names;
        this.size = size;
        this.areNamed = areNamed;
        this.unusable = areNamed ? firstUnusable(mayRepeat) : -1;
    }

    private long firstUnusable(boolean mayRepeat) {
        String before = null;
        for (long record = 0; record < size; record++) {
            String name = names.apply(record);
            if (!isKey(name) || !mayRepeat && name.equals(before)) {
                return record;
            }
            before = name;
        }
        return -1;
    }

    /** Returns the index of the first dot in a path's last part, or the end. */
    static int endOfKey(String path) {
        int dot = path.indexOf('.', path.lastIndexOf('/') + 1);
        return dot < 0 ? path.length() : dot;
    }

    /** Tells whether a reader finds this key before {@code .suffix}, and unpacking it stays inside the folder. */
    private static boolean isKey(String name) {
        if (name.isEmpty() || name.startsWith("/") || name.chars().anyMatch(Character::isISOControl)) {
            return false;
        }
        String[] parts = name.split("/", -1);
        for (String part : parts) {
            if (part.equals("..")) {
                return false;
            }
        }
        String last = parts[parts.length - 1];
        return !last.isEmpty() && last.indexOf('.') < 0 && !(parts[0].startsWith("__") && parts[0].endsWith("__"));
    }

    boolean areNames() {
        return areNamed && unusable < 0;
    }

    /** Tells whether the names are a column's values byte for byte, not as hexadecimal digits; false without one. */
    boolean haveAllOf(RecordStore store, int column) {
        boolean same = areNames() && column >= 0;
        Span value = new Span();
        for (long record = 0; same && record < size; record++) {
            store.locate(record, column, value);
            same = value.byteSize() == names.apply(record).getBytes(StandardCharsets.UTF_8).length;
        }
        return same;
    }

    /** Returns the first name that is not a valid key; null if all are. */
    @Nullable String unusableName() {
        return unusable < 0 ? null : names.apply(unusable);
    }

    String key(long record) {
        if (areNames()) {
            return names.apply(record);
        }
        String number = Long.toString(record);
        int digits = Math.max(MIN_DIGITS, Long.toString(Math.max(0, size - 1)).length());
        return "0".repeat(digits - number.length()) + number;
    }
}
