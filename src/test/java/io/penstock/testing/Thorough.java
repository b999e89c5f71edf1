// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

/**
 * How often a test tries something with other numbers: less in {@code mvn verify}, all before a release, with
 * {@code -Dpenstock.thorough}.
 */
public final class Thorough {

    private Thorough() {
    }

    /** Whether everything is tried. */
    public static boolean isOn() {
        return Boolean.getBoolean("penstock.thorough");
    }

    public static int times(int usual, int thorough) {
        return isOn() ? thorough : usual;
    }

    /** As {@link #times(int, int)}, unless the property says how often. */
    public static int times(String property, int usual, int thorough) {
        return Integer.getInteger(property, times(usual, thorough));
    }
}
