// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

/** How many entries of one kind were left out, and the first few by name. */
final class LeftOut {

    private static final int SHOWN = 3;

    private final String one;
    private final String many;
    private final StringBuilder examples = new StringBuilder();
    private long count;

    LeftOut(String one, String many) {
        this.one = one;
        this.many = many;
    }

    void add(String name) {
        if (count < SHOWN) {
            examples.append(count == 0 ? "" : ", ").append(name);
        }
        count++;
    }

    long count() {
        return count;
    }

    /** Returns for example {@code 5 links (a, b, c and 2 more)}. */
    @Override
    public String toString() {
        return count + " " + (count == 1 ? one : many) + " (" + examples
                + (count > SHOWN ? " and " + (count - SHOWN) + " more" : "") + ")";
    }
}
