// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.text.ByteText;
import io.penstock.text.TimeText;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Options that are numbers with a unit. */
final class AmountText {

    /** A time, in nanoseconds. */
    static final class Time implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return converted(value, TimeText::readNanos);
        }
    }

    /** A size, in bytes. */
    static final class Bytes implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return converted(value, ByteText::read);
        }
    }

    /** A size that may be 0, in bytes. */
    static final class Size implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return value.equals("0") ? 0L : converted(value, ByteText::read);
        }
    }

    /** Reads an option; an {@link IllegalArgumentException} becomes wrong usage. */
    static <T> T converted(String value, Function<String, T> reader) {
        try {
            return reader.apply(value);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
