// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Options of a command line, {@code --name value}; one whose default is {@code false} takes no value. */
final class Flags {

    private final Map<String, String> values = new LinkedHashMap<>();

    /**
     * Reads a command line.
     *
     * @param defaults names and defaults, alternately
     * @throws IllegalArgumentException if an option is unknown or has no value
     */
    static Flags of(String[] args, String... defaults) {
        Flags flags = new Flags();
        for (int i = 0; i < defaults.length; i += 2) {
            flags.values.put(defaults[i], defaults[i + 1]);
        }
        Map<String, String> known = Map.copyOf(flags.values);
        for (int i = 0; i < args.length; i++) {
            if (!known.containsKey(args[i])) {
                throw new IllegalArgumentException("option " + args[i] + ", expected one of " + flags.values.keySet());
            }
            boolean isSwitch = known.get(args[i]).equals("false");
            if (!isSwitch && i + 1 == args.length) {
                throw new IllegalArgumentException(args[i] + " needs a value");
            }
            flags.values.put(args[i], isSwitch ? "true" : args[++i]);
        }
        return flags;
    }

    boolean isOn(String name) {
        return text(name).equals("true");
    }

    int whole(String name) {
        return (int) number(name);
    }

    double number(String name) {
        try {
            return Double.parseDouble(text(name));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + ": found " + text(name) + ", expected a number", e);
        }
    }

    Path path(String name) {
        return Path.of(text(name));
    }

    String oneOf(String name, String... expected) {
        String found = text(name);
        if (!List.of(expected).contains(found)) {
            throw new IllegalArgumentException(name + ": found " + found + ", expected " + String.join(", ", expected));
        }
        return found;
    }

    String text(String name) {
        return values.getOrDefault(name, "");
    }
}
