// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads an option that is one of a few words, such as {@code in-place}; case does not matter. */
final class Choice<E extends Enum<E>> implements ITypeConverter<E> {

    private final List<E> choices;

    Choice(List<E> choices) {
        this.choices = List.copyOf(choices);
    }

    @Override
    public E convert(String value) {
        return choices.stream().filter(choice -> word(choice.toString()).equals(word(value))).findFirst()
                .orElseThrow(() -> new TypeConversionException("found '" + value + "', expected " + words()));
    }

    private static String word(String text) {
        return text.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private String words() {
        return choices.stream().limit(choices.size() - 1).map(choice -> word(choice.toString()))
                .collect(Collectors.joining(", ")) + " or " + word(choices.getLast().toString());
    }
}
