// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

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
        return numbers(name)[0];
    }

    /** Numbers with commas between them. */
    double[] numbers(String name) {
        try {
            String[] parts = text(name).split(",");
            double[] numbers = new double[parts.length];
            for (int i = 0; i < parts.length; i++) {
                numbers[i] = Double.parseDouble(parts[i]);
            }
            return numbers;
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + ": found " + text(name) + ", expected a number", e);
        }
    }

    /** The constant that is named, in lower case. */
    <E extends Enum<E>> E oneOf(String name, Class<E> type) {
        List<String> names = Stream.of(type.getEnumConstants()).map(each -> each.name().toLowerCase(Locale.ROOT))
                .toList();
        if (!names.contains(text(name))) {
            throw new IllegalArgumentException(name + ": found " + text(name) + ", expected one of " + names);
        }
        return type.getEnumConstants()[names.indexOf(text(name))];
    }

    Path path(String name) {
        return Path.of(text(name));
    }

    String text(String name) {
        return values.get(name);
    }

    /** The options with their values, for those that a checkpoint has to have in common with its run. */
    Map<String, String> only(Iterable<String> names) {
        Map<String, String> chosen = new LinkedHashMap<>();
        names.forEach(name -> chosen.put(name, text(name)));
        return chosen;
    }
}
