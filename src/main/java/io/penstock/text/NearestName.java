// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import java.util.List;
import java.util.Locale;

/** What somebody may have meant who misspelled a name, or gave that of another library. */
public final class NearestName {

    /** The least number of letters from which a name that is part of another word is a hint. */
    private static final int LEAST_COMMON = 4;
    private static final int MOST_EDITS = 2;

    private NearestName() {
    }

    /** Returns the longest name that is part of this one, as in torchvision's; else the nearest, or an empty text. */
    public static String of(String name, List<String> names) {
        String wanted = name.toLowerCase(Locale.ROOT);
        String longest = "";
        String nearest = "";
        int fewest = Math.min(MOST_EDITS + 1, Math.max(2, wanted.length() - 1));
        for (String candidate : names) {
            String known = candidate.toLowerCase(Locale.ROOT);
            if (known.length() >= Math.max(LEAST_COMMON, longest.length() + 1) && wanted.contains(known)) {
                longest = candidate;
            }
            int edits = edits(wanted, known);
            if (edits < fewest && edits < known.length()) {
                fewest = edits;
                nearest = candidate;
            }
        }
        return longest.isEmpty() ? nearest : longest;
    }

    /** Returns how many letters must be added, removed or replaced: Levenshtein's distance. */
    public static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
