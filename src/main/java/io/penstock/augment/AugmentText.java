// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.StepTable.Entry;
import io.penstock.augment.StepTable.Parameter;
import io.penstock.augment.StepTable.Values;
import io.penstock.augment.step.Step;
import io.penstock.image.ImageDecoding;
import io.penstock.io.index.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Pipelines as text, for command lines and settings.
 *
 * {@snippet :
 * Augment augment = AugmentText.parse("rrc=224,flip,jitter=0.4:0.4:0.4:0.1,normalize=imagenet,to=bf16");
 * System.out.println(AugmentText.of(augment));        // the same
 * }
 *
 * <p>A step is its short name, or the name of its method in {@link Augment}, in any case; then its values, separated by
 * colons, in their order or with their names: {@code erase=0.25:value=128}. A value that is left out is torchvision's
 * default. {@link #forms} lists all steps. A text that starts with {@code name=} names the pipeline:
 * {@code name="view b",rrc=224}.
 *
 * <pre>
 *   pipeline = [ "name=" word , "," ] , step , { "," , step }
 *   step     = name , [ "=" , value , { ":" , value } ]
 *   value    = [ parameter , "=" ] , text
 * </pre>
 *
 * <p>A file has the same as JSON; a value may be a number, a text, or an array for a size, a range or channels:
 *
 * <pre>{@code
 * {"steps": [{"step": "randomResizedCrop", "size": 224, "scale": [0.2, 1]}, {"step": "horizontalFlip"}]}
 * }</pre>
 */
public final class AugmentText {

    private static final long MOST_FILE_BYTES = 1 << 20;

    private static final String NAME = "name";

    private final String text;
    /** The character that is read; messages count from 1. */
    private int at;

    private AugmentText(String text) {
        this.text = text;
    }

    /**
     * Reads a pipeline.
     *
     * @param text the pipeline; empty for one without steps
     * @return the pipeline
     * @throws IllegalArgumentException if the text is no pipeline: names the character, the step, what was found and
     *     what was expected
     */
    public static Augment parse(String text) {
        return new AugmentText(text).pipeline();
    }

    /**
     * Reads a pipeline from a file of JSON.
     *
     * @param file the file
     * @return the pipeline
     * @throws IOException if the file cannot be read or is no pipeline: names the file and the field
     */
    public static Augment read(Path file) throws IOException {
        return JsonFile.read(file, "a pipeline of augmentation", MOST_FILE_BYTES, AugmentText::read);
    }

    /**
     * Writes a pipeline. {@link #parse} reads the same pipeline from the text: with the same pixels and fingerprint. A
     * text has neither the library that decodes files nor the limit of their pixels.
     *
     * @param pipeline the pipeline
     * @return the text, with short names and without values that are as usual
     */
    public static String of(Augment pipeline) {
        List<String> parts = new ArrayList<>();
        if (!pipeline.name().equals(Augment.NAME)) {
            parts.add(NAME + "=" + Json.write(pipeline.name()));
        }
        ImageDecoding decoding = pipeline.decoding();
        if (decoding != null) {
            parts.add(StepTable.text(decoding));
        }
        pipeline.steps().forEach(step -> parts.add(text(Objects.requireNonNull(entry(step.operation())), step)));
        StepTable.end(pipeline.ending(), parts);
        return String.join(",", parts);
    }

    /** {@return all steps that a text may have} */
    public static List<StepForm> forms() {
        return StepTable.ENTRIES.stream().map(Entry::form).toList();
    }

    private Augment pipeline() {
        Augment pipeline = Augment.images();
        if (text.isBlank()) {
            return pipeline;
        }
        if (upTo("=,").equals(NAME) && at < text.length() && text.charAt(at) == '=') {
            at++;
            pipeline = Augment.images(quoted());
            if (at == text.length()) {
                return pipeline;
            }
            at++;
        } else {
            at = 0;
        }
        while (true) {
            pipeline = step(pipeline);
            if (at == text.length()) {
                return pipeline;
            }
            at++;
        }
    }

    /** Reads a word that may be a string of JSON, which any character may be in. */
    private String quoted() {
        int begin = at;
        if (at == text.length() || text.charAt(at) != '"') {
            return upTo(",");
        }
        for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
            at += text.charAt(at) == '\\' ? 1 : 0;
        }
        at = Math.min(at + 1, text.length());
        if (!upTo(",").isEmpty()) {
            throw wrong(begin, NAME + ": found characters after the quoted name, expected a comma");
        }
        try {
            return (String) Objects.requireNonNull(Json.parse(text.substring(begin, at)));
        } catch (IllegalArgumentException e) {
            throw wrong(begin, NAME + ": " + e.getMessage());
        }
    }

    /** Reads up to one of some characters, or the end. */
    private String upTo(String ends) {
        int begin = at;
        while (at < text.length() && ends.indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return text.substring(begin, at).strip();
    }

    private Augment step(Augment pipeline) {
        int begin = begin();
        String name = upTo("=,");
        Entry entry = entry(name);
        if (entry == null) {
            throw wrong(begin, unknown(name));
        }
        @Nullable Object[] values = new Object[entry.parameters().size()];
        int next = 0;
        boolean isNamed = false;
        while (at < text.length() && text.charAt(at) != ',') {
            at++;
            int valueBegin = begin();
            String value = upTo("=:,");
            if (at < text.length() && text.charAt(at) == '=') {
                next = parameter(entry, value, valueBegin);
                isNamed = true;
                at++;
                valueBegin = begin();
                value = upTo(":,");
            } else if (isNamed || next == values.length) {
                throw wrong(valueBegin, entry.shortName() + ": found '" + value + "', expected "
                        + (isNamed ? "the name of a parameter and '='" : "at most " + values.length + " values: "
                        + entry.form()));
            }
            if (values[next] != null) {
                throw wrong(valueBegin, entry.shortName() + ": found two values of "
                        + entry.parameters().get(next).name());
            }
            values[next] = value(entry, next, value, valueBegin);
            next++;
        }
        try {
            return add(pipeline, entry, values);
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw wrong(begin, entry.shortName() + ": " + e.getMessage());
        }
    }

    /** The index of the next character that is not blank. */
    private int begin() {
        int begin = at;
        while (begin < text.length() && Character.isWhitespace(text.charAt(begin))) {
            begin++;
        }
        return begin;
    }

    private int parameter(Entry entry, String name, int begin) {
        for (int i = 0; i < entry.parameters().size(); i++) {
            if (entry.parameters().get(i).name().equalsIgnoreCase(name)) {
                return i;
            }
        }
        throw wrong(begin, entry.shortName() + ": found no parameter '" + name + "', expected one of "
                + entry.parameters().stream().map(Parameter::name).toList());
    }

    private Object value(Entry entry, int parameter, String value, int begin) {
        try {
            return read(entry.parameters().get(parameter), value);
        } catch (IllegalArgumentException e) {
            throw wrong(begin, entry.shortName() + ": " + e.getMessage());
        }
    }

    private static Object read(Parameter<?> parameter, String value) {
        try {
            return Objects.requireNonNull(parameter.form().reader().apply(value));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    parameter.name() + ": found '" + value + "', expected " + parameter.form().what(), e);
        }
    }

    private static Augment add(Augment pipeline, Entry entry, @Nullable Object[] given) {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < given.length; i++) {
            Parameter<?> parameter = entry.parameters().get(i);
            Object value = given[i] == null ? parameter.standard() : given[i];
            if (value == null) {
                throw new IllegalArgumentException(
                        parameter.name() + ": found nothing, expected " + parameter.form().what());
            }
            values.add(value);
        }
        return entry.maker().add(pipeline, new Values(values));
    }

    private IllegalArgumentException wrong(int where, String what) {
        return new IllegalArgumentException("at character " + (where + 1) + ": " + what);
    }

    // ---- names

    private static @Nullable Entry entry(String name) {
        return StepTable.ENTRIES.stream()
                .filter(entry -> entry.name().equalsIgnoreCase(name) || entry.shortName().equalsIgnoreCase(name))
                .findAny().orElse(null);
    }

    private static String unknown(String name) {
        String near = NearestName.of(name, StepTable.ENTRIES.stream()
                .flatMap(entry -> Stream.of(entry.shortName(), entry.name())).toList());
        return "found " + (name.isEmpty() ? "nothing" : "'" + name + "'") + (near.isEmpty() ? "" : ", did you mean '"
                + near + "'?") + (near.isEmpty() ? ", expected one of " : " The steps are ")
                + StepTable.ENTRIES.stream().map(Entry::shortName).collect(Collectors.joining(", "));
    }

    // ---- JSON

    /** Reads an object with the steps as objects; an {@link IllegalArgumentException} names the field. */
    private static Augment read(JsonFields file) {
        String named = file.textIfThere(NAME);
        Augment pipeline = named == null ? Augment.images() : Augment.images(named);
        int index = 0;
        for (JsonFields step : file.objects("steps")) {
            String where = "steps[" + index++ + "]";
            String name = step.text("step");
            Entry entry = entry(name);
            if (entry == null) {
                throw new IllegalArgumentException(where + ".step: " + unknown(name));
            }
            @Nullable Object[] values = new Object[entry.parameters().size()];
            try {
                for (int i = 0; i < values.length; i++) {
                    Parameter<?> parameter = entry.parameters().get(i);
                    Object value = step.takeIfThere(parameter.name());
                    values[i] = value == null ? null : read(parameter, inText(parameter, value));
                }
                pipeline = add(pipeline, entry, values);
            } catch (IllegalArgumentException | IllegalStateException e) {
                throw new IllegalArgumentException(where + ": " + entry.name() + ": " + e.getMessage(), e);
            }
            step.end();
        }
        file.end();
        return pipeline;
    }

    /** A value of JSON as a text has it: numbers as they are, an array's elements with the form's separator. */
    private static String inText(Parameter<?> parameter, @Nullable Object value) {
        return switch (value) {
            case List<?> list when !parameter.form().separator().isEmpty() -> list.stream()
                    .map(each -> inText(parameter, each)).collect(Collectors.joining(parameter.form().separator()));
            case Double number -> ValueForm.text(number);
            case String word -> word;
            case Long number -> number.toString();
            case null, default -> Json.shown(value);
        };
    }

    // ---- writing

    private static String text(Entry entry, Step step) {
        return text(entry, entry.reader().apply(step));
    }

    /** Writes a step: values without names up to the first that is as usual, those after it with names. */
    static String text(Entry entry, List<?> values) {
        StringBuilder text = new StringBuilder(entry.shortName());
        boolean isNamed = false;
        boolean isFirst = true;
        for (int i = 0; i < values.size(); i++) {
            Parameter<?> parameter = entry.parameters().get(i);
            Object value = values.get(i);
            if (value.equals(parameter.standard())) {
                isNamed = true;
                continue;
            }
            text.append(isFirst ? '=' : ':').append(isNamed ? parameter.name() + "=" : "")
                    .append(parameter.text(value));
            isFirst = false;
        }
        return text.toString();
    }
}
