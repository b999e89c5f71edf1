// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.StepTable.Entry;
import io.penstock.augment.step.StepTable.Parameter;
import io.penstock.augment.step.StepTable.Values;
import io.penstock.image.ImageDecoding;
import io.penstock.image.StepForm;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.text.NearestName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads and writes pipelines as text, and reads them as JSON; {@link io.penstock.augment.AugmentText} says how. */
public final class PipelineText {

    private static final String NAME = "name";

    private final String text;
    /** The next character to read; messages count from 1. */
    private int at;

    private PipelineText(String text) {
        this.text = text;
    }

    /** Reads a pipeline; an {@link IllegalArgumentException} names the character. */
    public static Pipeline parse(String text) {
        return new PipelineText(text).pipeline();
    }

    /** Writes a pipeline. */
    public static String of(Pipeline pipeline) {
        List<String> parts = new ArrayList<>();
        if (!pipeline.name().equals(Pipeline.USUAL)) {
            parts.add(NAME + "=" + Json.write(pipeline.name()));
        }
        ImageDecoding decoding = pipeline.decoding();
        if (decoding != null) {
            parts.add(StepTable.text(decoding));
        }
        for (Step step : pipeline.each()) {
            Entry entry = Objects.requireNonNull(entry(step.form().operation()));
            parts.add(text(entry, entry.reader().apply(step)));
        }
        StepTable.end(pipeline.ending(), parts);
        return String.join(",", parts);
    }

    /** Returns all steps. */
    public static List<StepForm> forms() {
        return StepTable.ENTRIES.stream().map(Entry::form).toList();
    }

    private Pipeline pipeline() {
        Pipeline pipeline = Pipeline.named(Pipeline.USUAL);
        if (text.isBlank()) {
            return pipeline;
        }
        if (upTo("=,").equals(NAME) && at < text.length() && text.charAt(at) == '=') {
            at++;
            pipeline = Pipeline.named(quoted());
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

    private Pipeline step(Pipeline pipeline) {
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

    private static Pipeline add(Pipeline pipeline, Entry entry, @Nullable Object[] given) {
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
    public static Pipeline read(JsonFields file) {
        String named = file.textIfThere(NAME);
        Pipeline pipeline = Pipeline.named(named == null ? Pipeline.USUAL : named);
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

    /**
     * Returns a JSON value as a text would have it: numbers unchanged, an array's elements joined by the form's
     * separator.
     */
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

    /** Writes a step: values without names up to the first one that has its default, later ones with names. */
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
