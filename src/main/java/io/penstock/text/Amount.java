// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads positive numbers with a unit, as options have them. */
final class Amount {

    private static final Pattern AMOUNT = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)([A-Za-z]*)");

    /** Returns the rounded number of the smallest units, at least 1; {@code units} says how many each unit has. */
    static long read(String text, Map<String, Double> units, String expected) {
        Matcher matcher = AMOUNT.matcher(text);
        Double unit = matcher.matches() ? units.get(matcher.group(2)) : null;
        long amount = unit == null ? 0 : Math.round(Double.parseDouble(matcher.group(1)) * unit);
        if (amount == 0) {
            throw new IllegalArgumentException("found '" + text + "', expected " + expected);
        }
        return amount;
    }
}
