// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.format.files.FilesStore;
import io.penstock.format.lmdb.LmdbStore;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.io.Span;
import io.penstock.store.RecordStore;
import java.nio.charset.StandardCharsets;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The keys of records as WebDataset samples: the store's names, if all of them are valid keys, otherwise record
 * numbers, zero-padded to one length.
 */
final class SampleKeys {

    private static final int MIN_DIGITS = 6;
    private static final int KEY_COLUMN = 0;

    private final @Nullable LongFunction<String> names;
    private final int digits;
    /** The first record whose name is not a valid key; -1 if all are. */
    private final long unusable;

    private SampleKeys(@Nullable LongFunction<String> names, long records, long unusable) {
        this.names = names;
        this.digits = Math.max(MIN_DIGITS, Long.toString(Math.max(0, records - 1)).length());
        this.unusable = unusable;
    }

    static SampleKeys of(RecordStore store) {
        LongFunction<String> names = namesOf(store);
        // Files that differ only in their suffix are one sample; other adjacent records must not be.
        boolean mayRepeat = store instanceof FilesStore;
        String before = null;
        for (long record = 0; names != null && record < store.size(); record++) {
            String name = names.apply(record);
            if (!isKey(name) || !mayRepeat && name.equals(before)) {
                return new SampleKeys(names, store.size(), record);
            }
            before = name;
        }
        return new SampleKeys(names, store.size(), -1);
    }

    /** Returns the store's names of its records; null if it has none. A file's name is without its suffix. */
    static @Nullable LongFunction<String> namesOf(RecordStore store) {
        return switch (store) {
            case WebDatasetStore tars -> tars::key;
            case FilesStore files -> record -> {
                String path = files.name(record);
                return path.substring(0, endOfKey(path));
            };
            case LmdbStore pairs -> pairs::name;
            default -> null;
        };
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
        return names != null && unusable < 0;
    }

    /** Tells whether the names are LMDB's keys byte for byte, not as hexadecimal digits. */
    boolean areKeysOf(LmdbStore store) {
        boolean same = areNames();
        Span key = new Span();
        for (long record = 0; same && record < store.size(); record++) {
            store.locate(record, KEY_COLUMN, key);
            same = key.byteSize() == store.name(record).getBytes(StandardCharsets.UTF_8).length;
        }
        return same;
    }

    /** Returns the first name that is not a valid key; null if all are. */
    @Nullable String unusableName() {
        return names == null || unusable < 0 ? null : names.apply(unusable);
    }

    String key(long record) {
        if (names != null && unusable < 0) {
            return names.apply(record);
        }
        String number = Long.toString(record);
        return "0".repeat(digits - number.length()) + number;
    }
}
