package io.penstock.cli;

import io.penstock.loader.TransferMode;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a transfer mode; takes {@code in-place} beside {@code in_place}. */
final class TransferText implements ITypeConverter<TransferMode> {

    @Override
    public TransferMode convert(String value) {
        try {
            return TransferMode.valueOf(value.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("found '" + value + "', expected auto, in-place or copy");
        }
    }
}
