// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a function, filter or method is called with. The receiver may take them out of {@code named}. */
record Arguments(Object[] positional, Map<String, Object> named) {

    static final Arguments NONE = new Arguments(new Object[0], Map.of());

    /**
     * The parameters of a function: their names, of which the first {@code required} must be given. Written {@code "old
     * new [count]"}.
     */
    record Signature(List<String> names, int required, Object[] none) {

        static Signature of(String text) {
            List<String> words = text.isEmpty() ? List.of() : List.of(text.split(" "));
            int required = (int) words.stream().filter(word -> !word.startsWith("[")).count();
            Object[] none = new Object[words.size()];
            Arrays.fill(none, Values.MISSING);
            return new Signature(words.stream().map(word -> word.replaceAll("[\\[\\]]", "")).toList(), required, none);
        }
    }

    /**
     * The arguments in the order of the parameters, {@link Values#MISSING} for those that are not given. Not to be
     * changed.
     */
    Object[] bind(String function, Signature signature) {
        if (this == NONE && signature.required() == 0) {
            return signature.none();
        }
        List<String> names = signature.names();
        if (positional.length > names.size()) {
            throw Values.error(function + ": found " + positional.length + " arguments, expected at most "
                    + names.size());
        }
        Object[] bound = Arrays.copyOf(positional, names.size());
        Arrays.fill(bound, positional.length, bound.length, Values.MISSING);
        for (Map.Entry<String, Object> entry : named.entrySet()) {
            int index = names.indexOf(entry.getKey());
            if (index < 0 || bound[index] != Values.MISSING) {
                throw Values.error(function + ": found the argument '" + entry.getKey() + "'"
                        + (index < 0 ? ", expected one of " + names : " twice"));
            }
            bound[index] = entry.getValue();
        }
        for (int i = 0; i < signature.required(); i++) {
            if (bound[i] == Values.MISSING) {
                throw Values.error(function + ": the argument '" + names.get(i) + "' is missing");
            }
        }
        return bound;
    }

    /** All but the first positional ones. */
    Arguments without(int count) {
        return new Arguments(Arrays.copyOfRange(positional, Math.min(count, positional.length), positional.length),
                named);
    }

    /** With one more named one. */
    Arguments with(String name, Object value) {
        Map<String, Object> all = new LinkedHashMap<>(named);
        if (all.put(name, value) != null) {
            throw Values.error("found the argument '" + name + "' twice");
        }
        return new Arguments(positional, all);
    }
}
