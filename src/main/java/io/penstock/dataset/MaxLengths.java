package io.penstock.dataset;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** The greatest lengths of a dataset's fields that take a pass to find: each is found once, by whoever asks first. */
final class MaxLengths {

    private final Map<Integer, Long> found = new HashMap<>();

    synchronized long of(int field, LongSupplier find) {
        return found.computeIfAbsent(field, _ -> find.getAsLong());
    }
}
