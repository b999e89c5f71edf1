// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Range;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * How a parameter of a step is written: what is read is written as it was, in its shortest form.
 *
 * @param what the form, for messages
 * @param separator what stands between two numbers, which an array of JSON has instead; empty if there is one
 * @param reader reads a text; throws an {@link IllegalArgumentException} if it is no such value
 * @param writer writes a value
 */
record ValueForm<T>(String what, String separator, Function<String, T> reader, Function<T, String> writer) {

    private static final Pattern SIZE_TEXT = Pattern.compile("\\d{1,9}(x\\d{1,9})?");
    private static final String DOTS = "..";
    private static final String IMAGENET = "imagenet";

    static final ValueForm<Double> NUMBER = one("a number", ValueForm::number, ValueForm::text);
    static final ValueForm<Double> PROBABILITY = one("a probability from 0 to 1", ValueForm::number, ValueForm::text);
    static final ValueForm<Integer> WHOLE = one("a whole number", Integer::valueOf, String::valueOf);

    /** Height and width. */
    static final ValueForm<Size> SIZE = new ValueForm<>("a size such as 224, or 192x256 for height and width", "x",
            text -> new Size(sides(text).getFirst(), sides(text).getLast()),
            size -> size.height() == size.width() ? String.valueOf(size.width()) : size.height() + "x" + size.width());
    /** The shorter side alone, or height and width. */
    static final ValueForm<List<Integer>> SIDES = new ValueForm<>("256 for the shorter side, or 192x256 for height and"
            + " width", "x", ValueForm::sides,
            sides -> sides.stream().map(String::valueOf).collect(Collectors.joining("x")));

    static final ValueForm<Range> RANGE = new ValueForm<>("a range such as 0.2..1", DOTS, ValueForm::range,
            ValueForm::text);
    /** One number, or a range. */
    static final ValueForm<Range> AMOUNT = new ValueForm<>("a number, or a range such as 0.1..2", DOTS,
            text -> text.contains(DOTS) ? range(text) : Range.of(number(text), number(text)),
            range -> range.low() == range.high() ? text(range.high()) : text(range));
    /** Factors: 0.4 is 0.6 to 1.4. */
    static final ValueForm<Range> FACTOR = new ValueForm<>("a number, 0.4 for factors of 0.6 to 1.4, or a range such as"
            + " 0.8..1.2", DOTS, text -> text.contains(DOTS) ? range(text) : ColorJitter.around1(number(text)),
            ValueForm::factor);
    /** Amounts to both sides: 0.1 is -0.1 to 0.1. */
    static final ValueForm<Range> SPREAD = new ValueForm<>("a number, 10 for -10 to 10, or a range such as -5..15",
            DOTS, text -> text.contains(DOTS) ? range(text) : Range.of(-number(text), number(text)),
            range -> range.equals(Range.of(-range.high(), range.high())) ? text(range.high()) : text(range));

    private static <T> ValueForm<T> one(String what, Function<String, T> reader, Function<T, String> writer) {
        return new ValueForm<>(what, "", reader, writer);
    }

    /** A number for each channel, or those of ImageNet. */
    static ValueForm<List<Float>> channels(List<Float> ofImageNet) {
        return new ValueForm<>("imagenet, or a number per channel such as 0.5/0.5/0.5", "/",
                text -> text.equals(IMAGENET) ? ofImageNet
                        : Arrays.stream(text.split("/", -1)).map(ValueForm::single).toList(),
                values -> values.equals(ofImageNet) ? IMAGENET
                        : values.stream().map(value -> shortened(value.toString())).collect(Collectors.joining("/")));
    }

    /** One of some constants, in lower case. */
    static <E extends Enum<E>> ValueForm<E> word(List<E> choices) {
        String words = choices.stream().map(ValueForm::wordOf).collect(Collectors.joining(", "));
        return one("one of " + words, text -> choices.stream()
                .filter(choice -> wordOf(choice).equals(text.toLowerCase(Locale.ROOT))).findAny()
                .orElseThrow(IllegalArgumentException::new), ValueForm::wordOf);
    }

    private static String wordOf(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT);
    }

    private static double number(String text) {
        double number = Double.parseDouble(text);
        if (!Double.isFinite(number) || !Character.isDigit(text.charAt(text.length() - 1))
                && !text.endsWith(".")) {                           // no 1d or 1f, which Java reads
            throw new IllegalArgumentException(text);
        }
        return number;
    }

    private static Float single(String text) {
        number(text);
        return Float.valueOf(text);
    }

    /** The shortest text that is read as the number. */
    static String text(double number) {
        return shortened(Double.toString(number));
    }

    private static String shortened(String number) {
        return number.endsWith(".0") ? number.substring(0, number.length() - 2) : number;
    }

    private static List<Integer> sides(String text) {
        if (!SIZE_TEXT.matcher(text).matches()) {
            throw new IllegalArgumentException(text);
        }
        return Arrays.stream(text.split("x")).map(Integer::valueOf).toList();
    }

    private static Range range(String text) {
        int dots = text.indexOf(DOTS);
        if (dots < 0) {
            throw new IllegalArgumentException(text);
        }
        return Range.of(number(text.substring(0, dots)), number(text.substring(dots + DOTS.length())));
    }

    private static String text(Range range) {
        return text(range.low()) + DOTS + text(range.high());
    }

    private static String factor(Range range) {
        double distance = distance(range);
        return distance >= 0 && ColorJitter.around1(distance).equals(range) ? text(distance) : text(range);
    }

    /** Returns the number that stands for a range of factors: the shortest one if that gives both ends to the bit. */
    static double distance(Range factors) {
        double ofHigh = new BigDecimal(Double.toString(factors.high())).subtract(BigDecimal.ONE).doubleValue();
        double ofLow = 1 - factors.low();
        return DoubleStream.of(ofHigh, factors.high() - 1, ofLow, Math.nextUp(ofLow), Math.nextDown(ofLow))
                .filter(distance -> distance >= 0 && ColorJitter.around1(distance).equals(factors)).findFirst()
                .orElse(ofHigh);
    }
}
