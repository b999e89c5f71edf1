// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.util.LinkedHashMap;
import java.util.Map;

/** JSON objects, written down as their members. */
public final class Members {

    private Members() {
    }

    /** An object of members that are given by name and value in turn, in that order. */
    public static Map<String, Object> fields(Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return fields;
    }
}
