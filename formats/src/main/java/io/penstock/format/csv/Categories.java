// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The texts of a column, each with a number: 0 for the first that appears, 1 for the next. Texts are looked up without
 * objects; they may be looked up by any number of threads once nothing more is added.
 */
final class Categories {

    /** The most texts of a column: more are no categories. */
    static final int MAX_COUNT = 1 << 20;

    private byte[] texts = new byte[256];
    /** Where each text begins, then where the last one ends. */
    private int[] starts = new int[17];
    private int[] slots = new int[32];
    private int count;

    static Categories of(List<String> texts) {
        Categories all = new Categories();
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            all.add(bytes, 0, bytes.length);
        }
        return all;
    }

    int count() {
        return count;
    }

    /** Returns the number of a text; -1 if it has none. */
    int numberOf(byte[] bytes, int from, int to) {
        for (int slot = hash(bytes, from, to); ; slot++) {
            int found = slots[slot & slots.length - 1] - 1;
            if (found < 0 || Arrays.equals(texts, starts[found], starts[found + 1], bytes, from, to)) {
                return found;
            }
        }
    }

    /** Adds a text, unless it is there or there are too many; returns its number. */
    int add(byte[] bytes, int from, int to) {
        int there = numberOf(bytes, from, to);
        if (there >= 0 || count > MAX_COUNT) {
            return there;
        }
        int start = starts[count];
        int end = Math.addExact(start, to - from);
        if (end > texts.length) {
            texts = Arrays.copyOf(texts, Math.max(end, 2 * texts.length));
        }
        System.arraycopy(bytes, from, texts, start, to - from);
        if (count + 2 > starts.length) {
            starts = Arrays.copyOf(starts, 2 * starts.length);
        }
        starts[++count] = end;
        if (2 * count > slots.length) {
            slots = new int[2 * slots.length];
            for (int i = 0; i < count; i++) {
                place(i);
            }
        } else {
            place(count - 1);
        }
        return count - 1;
    }

    private void place(int number) {
        int slot = hash(texts, starts[number], starts[number + 1]);
        while (slots[slot & slots.length - 1] != 0) {
            slot++;
        }
        slots[slot & slots.length - 1] = number + 1;
    }

    /** Adds those of another part of the table, in their order. */
    void addAll(Categories others) {
        for (int i = 0; i < others.count; i++) {
            add(others.texts, others.starts[i], others.starts[i + 1]);
        }
    }

    List<String> texts() {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(new String(texts, starts[i], starts[i + 1] - starts[i], StandardCharsets.UTF_8));
        }
        return all;
    }

    private static int hash(byte[] bytes, int from, int to) {
        return (int) (hash64(bytes, from, to) >>> 32);
    }

    /** Returns the 64-bit FNV-1a hash of a text, its bits mixed once more, since FNV's high bits are weak. */
    static long hash64(byte[] bytes, int from, int to) {
        long hash = 0xCBF29CE484222325L;
        for (int i = from; i < to; i++) {
            hash = (hash ^ bytes[i] & 0xFF) * 0x100000001B3L;
        }
        hash = (hash ^ hash >>> 32) * 0xD6E8FEB86659FD93L;
        return hash ^ hash >>> 32;
    }
}
