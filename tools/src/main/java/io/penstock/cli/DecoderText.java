// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.decode.Decoder;
import io.penstock.image.ImageFit;
import io.penstock.memory.DType;
import io.penstock.pictures.ImageDecoder;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Decoders as command-line options. */
final class DecoderText {

    /** The forms that {@link #parse} reads, for the help. */
    static final String FORMS = "bytes (as stored), int[:DTYPE], rgb:HxW[:crop[N]|:exact], gray:HxW[…],"
            + " npy:DTYPE:SHAPE, numbers:DTYPE:SHAPE, json:DTYPE:PATH";

    private static final Set<String> IMAGES = Set.of("jpg", "jpeg", "png", "img", "image", "pil");
    private static final String TABLE_IMAGE = "image.bytes";
    private static final Pattern IMAGE = Pattern.compile("(rgb|gray):(\\d{1,5})x(\\d{1,5})(:crop(\\d{1,5})?|:exact)?");
    private static final Pattern ARRAY = Pattern.compile("(npy|numbers):(\\w+):([\\dx*]*)");
    private static final Pattern SCALAR = Pattern.compile("int(?::(\\w+))?");
    private static final Pattern JSON = Pattern.compile("json:(\\w+):(.+)");

    /** Reads a decoder; throws an {@link IllegalArgumentException} if the text is none. */
    static Decoder parse(String text) {
        Matcher matcher = IMAGE.matcher(text);
        if (matcher.matches()) {
            return image(matcher);
        }
        matcher = ARRAY.matcher(text);
        if (matcher.matches()) {
            DType dtype = DType.of(matcher.group(2));
            long[] shape = shape(matcher.group(3));
            return matcher.group(1).equals("npy") ? Decoder.npy(dtype, shape) : Decoder.numbers(dtype, shape);
        }
        matcher = SCALAR.matcher(text);
        if (matcher.matches()) {
            return matcher.group(1) == null ? Decoder.decimal(DType.I64) : Decoder.decimal(DType.of(matcher.group(1)));
        }
        matcher = JSON.matcher(text);
        if (matcher.matches()) {
            return Decoder.jsonNumber(matcher.group(2), DType.of(matcher.group(1)));
        }
        if (text.equals("bytes")) {
            return Decoder.bytes();
        }
        throw new IllegalArgumentException("unknown decoder '" + text + "', expected " + FORMS
                + "; a SHAPE is such as 224x224x3");
    }

    /** Reads {@code 3x*x4}; {@code *} is a dimension that varies, and an empty text is a scalar. */
    private static long[] shape(String text) {
        return text.isEmpty() ? new long[0]
                : Arrays.stream(text.split("x")).mapToLong(dim -> dim.equals("*") ? -1 : Long.parseLong(dim)).toArray();
    }

    private static Decoder image(Matcher text) {
        return text.group(1).equals("rgb") ? ImageDecoder.rgb(fit(text)) : ImageDecoder.gray(fit(text));
    }

    private static ImageFit fit(Matcher text) {
        int height = Integer.parseInt(text.group(2));
        int width = Integer.parseInt(text.group(3));
        String how = text.group(4) == null ? "" : text.group(4);
        return switch (how) {
            case "" -> ImageFit.stretch(height, width);
            case ":exact" -> ImageFit.exactly(height, width);
            default -> ImageFit.shorterSide(text.group(5) == null ? Math.max(height, width)
                    : Integer.parseInt(text.group(5)), height, width);
        };
    }

    /** Reads {@code HxW}: the shorter side is resized to the larger of both, and the center cropped. */
    static ImageFit fit(String size) {
        Matcher matcher = IMAGE.matcher("rgb:" + size + ":crop");
        if (!matcher.matches()) {
            throw new IllegalArgumentException("found '" + size + "', expected HxW, such as 224x224");
        }
        return fit(matcher);
    }

    /** The default decoder for a column's encoding; null for numbers. */
    static @Nullable Decoder byEncoding(Column column, @Nullable String imageSize) {
        if (column.kind() == Column.Kind.NUMBERS) {
            return null;
        }
        if (imageSize != null && isImage(column)) {
            return ImageDecoder.rgb(fit(imageSize));
        }
        return Decoder.of(column);
    }

    /** Fails if {@code --image} would decode nothing. */
    static void requireImages(RecordStore store) {
        if (store.columns().stream().noneMatch(DecoderText::isImage)) {
            throw new UsageException("--image: found no column of images in " + store.columns().stream()
                    .map(Column::name).toList() + ", expected one, or --decode NAME=rgb:HxW:crop");
        }
    }

    /** Whether a column holds images: by its encoding or, if it has none as in a table, by its name. */
    static boolean isImage(Column column) {
        return column.kind() == Column.Kind.BYTES
                && isImageName(column.encoding().isEmpty() || column.name().equals(TABLE_IMAGE) ? column.name()
                        : column.encoding());
    }

    /** Whether the name or encoding of a column of bytes says that they are image files. */
    static boolean isImageName(String name) {
        return IMAGES.contains(name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT))
                || name.equals(TABLE_IMAGE);
    }
}
