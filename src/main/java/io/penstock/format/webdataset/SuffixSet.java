package io.penstock.format.webdataset;

import java.util.Arrays;
import java.util.BitSet;

/** The suffixes of one sample: few as a rule, and then looked through one by one. */
final class SuffixSet {

    private static final int FEW = 16;

    private int[] few = new int[FEW];
    private int size;
    private BitSet many;

    void clear() {
        size = 0;
        many = null;
    }

    /** Adds a suffix; false if it is there. */
    boolean add(int suffix) {
        if (many != null) {
            boolean there = many.get(suffix);
            many.set(suffix);
            return !there;
        }
        for (int i = 0; i < size; i++) {
            if (few[i] == suffix) {
                return false;
            }
        }
        if (size == FEW) {
            many = new BitSet();
            Arrays.stream(few).forEach(many::set);
            many.set(suffix);
        } else {
            few[size++] = suffix;
        }
        return true;
    }
}
