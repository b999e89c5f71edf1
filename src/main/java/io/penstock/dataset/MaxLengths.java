// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** The greatest lengths of a dataset's fields that need a pass to find; the first caller computes each one. */
final class MaxLengths {

    private final Map<Integer, Long> found = new HashMap<>();

    synchronized long of(int field, LongSupplier find) {
        return found.computeIfAbsent(field, _ -> find.getAsLong());
    }
}
