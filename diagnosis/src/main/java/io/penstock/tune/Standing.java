// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

/** How a setting compares with the fastest one of its race. */
public enum Standing {
    /** It has the highest median. */
    FASTEST("fastest"),
    /** It is shown to be no slower than the fastest, except for a negligible difference. */
    SAME("equally fast"),
    /** The rounds cannot separate it from the fastest. */
    WITHIN_NOISE("within noise"),
    /** It is shown to be slower. */
    SLOWER("slower");

    private final String words;

    Standing(String words) {
        this.words = words;
    }

    /** The standing as text. */
    @Override
    public String toString() {
        return words;
    }
}
