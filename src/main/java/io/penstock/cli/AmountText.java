package io.penstock.cli;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads numbers with a unit from options. */
final class AmountText {

    private static final Pattern AMOUNT = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)([A-Za-z]*)");
    private static final Map<String, Double> SECONDS = Map.of("ms", 1e-3, "s", 1.0, "", 1.0, "m", 60.0, "h", 3600.0);
    private static final Map<String, Double> BYTES = Map.of("", 1.0, "K", 0x1p10, "M", 0x1p20, "G", 0x1p30,
            "T", 0x1p40);

    private AmountText() {
    }

    /** Takes {@code 30s}, {@code 2m}, {@code 500ms} or a number of seconds; gives nanoseconds. */
    static final class Time implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return Math.round(1e9 * amount(value, SECONDS, "a time such as 30s, 2m or 500ms"));
        }
    }

    /** Takes {@code 64M}, {@code 2G} or a number of bytes; the units are powers of 1024. */
    static final class Bytes implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return Math.round(amount(value, BYTES, "bytes such as 1048576, 64M or 2G"));
        }
    }

    private static double amount(String value, Map<String, Double> units, String expected) {
        Matcher matcher = AMOUNT.matcher(value);
        if (!matcher.matches() || !units.containsKey(matcher.group(2)) || Double.parseDouble(matcher.group(1)) == 0) {
            throw new TypeConversionException("found '" + value + "', expected " + expected);
        }
        return Double.parseDouble(matcher.group(1)) * units.get(matcher.group(2));
    }
}
