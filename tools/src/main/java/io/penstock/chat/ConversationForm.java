// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How the records of a dataset hold conversations, and what their members are called.
 *
 * {@snippet :
 * ConversationForm form = ConversationForm.parse("sharegpt");
 * ConversationForm renamed = ConversationForm.parse("messages:messages=chat,tools=functions");
 * }
 *
 * @param kind the form
 * @param names the record's own names of members, by those that {@link Shape} lists
 */
public record ConversationForm(Shape kind, Map<String, String> names) {

    /** The forms that datasets have. */
    public enum Shape {
        /** {@code messages}: objects with {@code role}, {@code content} and what else a template reads. */
        MESSAGES(List.of(), "messages"),
        /** {@code conversations}: objects with {@code from} ({@code human}, {@code gpt}, …) and {@code value}. */
        SHAREGPT(List.of("system"), "conversations"),
        /** {@code prompt} and {@code completion}: texts, or lists of messages. */
        PROMPT_COMPLETION(List.of(), "prompt", "completion"),
        /** {@code instruction}, {@code input}, which may be empty or missing, and {@code output}. */
        INSTRUCTION(List.of("input", "system"), "instruction", "output"),
        /** {@code chosen} and {@code rejected}: lists of messages, or texts that answer {@code prompt}. */
        PREFERENCE(List.of("prompt", "margin", "score_chosen", "score_rejected"), "chosen", "rejected"),
        /** {@code prompt} and {@code completions}: a list of texts, or of lists of messages, the best first. */
        RANKED(List.of("scores"), "prompt", "completions");

        private final List<String> required;
        private final List<String> members;
        /** The form whose members have their usual names. */
        private final ConversationForm usual;

        Shape(List<String> optional, String... required) {
            this.required = List.of(required);
            this.members = Stream.concat(this.required.stream(), optional.stream()).toList();
            this.usual = new ConversationForm(this, Map.of());
        }

        private boolean isOf(Map<String, ? extends @Nullable Object> record) {
            for (String name : required) {
                if (record.get(name) == null) {
                    return false;
                }
            }
            return true;
        }

        /** The lower-case name, as in commands: {@code prompt-completion}. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private static final Map<String, String> ROLES = Map.of("human", "user", "user", "user", "gpt", "assistant",
            "chatgpt", "assistant", "bot", "assistant", "assistant", "assistant", "system", "system", "tool", "tool",
            "observation", "tool");
    /** Members of a record that templates read beside the messages. */
    private static final List<String> EXTRAS = List.of("tools", "documents", "chat_template_kwargs");

    /** What a record of any form may have. */
    private static final List<String> FURTHER = Stream.concat(EXTRAS.stream(), Stream.of("label")).toList();

    /** Copies the names. */
    public ConversationForm {
        names = Map.copyOf(names);
    }

    /**
     * {@return a form whose members have their usual names}
     *
     * @param kind the form
     */
    public static ConversationForm of(Shape kind) {
        return new ConversationForm(kind, Map.of());
    }

    /**
     * {@return the form that a record has}
     *
     * @param record a record's members
     * @throws IllegalArgumentException if it has none of the forms; lists its members and the forms
     */
    public static ConversationForm detect(Map<String, ? extends @Nullable Object> record) {
        return detect(record, List.of(Shape.values()));
    }

    /** Returns the form of a record of answers: one that has several goes before one that has a conversation. */
    static ConversationForm detectAnswers(Map<String, ? extends @Nullable Object> record) {
        List<Shape> kinds = new ArrayList<>(List.of(Shape.PREFERENCE, Shape.RANKED));
        kinds.addAll(List.of(Shape.values()));
        return detect(record, kinds);
    }

    private static ConversationForm detect(Map<String, ? extends @Nullable Object> record, List<Shape> kinds) {
        for (Shape kind : kinds) {
            if (kind.isOf(record)) {
                return kind.usual;
            }
        }
        throw new IllegalArgumentException("found an object with " + record.keySet()
                + ", expected the members of one of " + Arrays.stream(Shape.values())
                        .map(kind -> kind + " " + kind.required).toList());
    }

    /** Returns the record's own names of the members that the form may have. */
    Set<String> members() {
        Set<String> members = new TreeSet<>();
        Stream.concat(kind.members.stream(), FURTHER.stream()).forEach(name -> members.add(own(name)));
        return members;
    }

    /** Returns the members that any of the forms may have. */
    static Set<String> allMembers() {
        Set<String> members = new TreeSet<>();
        for (Shape kind : Shape.values()) {
            members.addAll(of(kind).members());
        }
        return members;
    }

    /**
     * {@return the form that a text names} For example {@code sharegpt}, or {@code messages:messages=chat}.
     *
     * @param text the form, and after a colon {@code NAME=OWN_NAME}, separated by commas
     * @throws IllegalArgumentException if it names no form
     */
    public static ConversationForm parse(String text) {
        int colon = text.indexOf(':');
        String name = colon < 0 ? text : text.substring(0, colon);
        Shape kind = Arrays.stream(Shape.values()).filter(one -> one.toString().equals(name)).findAny().orElseThrow(
                () -> new IllegalArgumentException("found '" + name + "', expected one of "
                        + Arrays.toString(Shape.values())));
        Map<String, String> names = new LinkedHashMap<>();
        if (colon >= 0) {
            for (String pair : text.substring(colon + 1).split(",", -1)) {
                int equals = pair.indexOf('=');
                if (equals < 1 || equals == pair.length() - 1) {
                    throw new IllegalArgumentException("found '" + pair + "', expected NAME=OWN_NAME");
                }
                names.put(pair.substring(0, equals), pair.substring(equals + 1));
            }
        }
        return new ConversationForm(kind, names);
    }

    /**
     * {@return a record's conversation: of several, the chosen one or the first}
     *
     * @param record the record's members
     * @throws IllegalArgumentException if it lacks a member, or one has another type
     */
    public Conversation conversation(Map<String, ? extends @Nullable Object> record) {
        return switch (kind) {
            case MESSAGES -> with(record, messages(record, "messages"));
            case SHAREGPT -> with(record, shareGpt(record));
            case PROMPT_COMPLETION -> with(record, joined(prompt(record), record, "completion"));
            case INSTRUCTION -> with(record, instruction(record));
            case PREFERENCE -> answer(record, "chosen");
            case RANKED -> ranked(record).getFirst().conversation();
        };
    }

    /**
     * An answer to a question.
     *
     * @param conversation the question and the answer
     * @param score how good it is
     */
    public record Answer(Conversation conversation, float score) {
    }

    /**
     * {@return a record's answers to one question, with their scores}
     *
     * <ul>
     *   <li>A preference's are the chosen and the rejected one, with the scores {@code margin} and 0, or {@code
     *       score_chosen} and {@code score_rejected}, or without these 1 and 0;
     *   <li>ranked ones have {@code scores}, or without these the number of those behind each;
     *   <li>every other form's is its conversation, with the score {@code label}: a truth value, 1 or 0, or a number.
     * </ul>
     *
     * @param record the record's members
     * @throws IllegalArgumentException if it lacks a member, or one has another type
     */
    public List<Answer> answers(Map<String, ? extends @Nullable Object> record) {
        return switch (kind) {
            case PREFERENCE -> {
                boolean hasMargin = record.get(own("margin")) != null;
                boolean hasScores = record.get(own("score_chosen")) != null;
                yield List.of(new Answer(answer(record, "chosen"), hasMargin ? score(record, "margin")
                        : hasScores ? score(record, "score_chosen") : 1f), new Answer(answer(record, "rejected"),
                        hasMargin || !hasScores ? 0f : score(record, "score_rejected")));
            }
            case RANKED -> ranked(record);
            case MESSAGES, SHAREGPT, PROMPT_COMPLETION, INSTRUCTION ->
                    List.of(new Answer(conversation(record), score(record, "label")));
        };
    }

    private List<Answer> ranked(Map<String, ? extends @Nullable Object> record) {
        List<?> completions = list(record, "completions");
        List<?> scores = record.get(own("scores")) == null ? List.of() : list(record, "scores");
        if (completions.isEmpty() || !scores.isEmpty() && scores.size() != completions.size()) {
            throw wrong(record, scores.isEmpty() ? "completions" : "scores", "as many scores as completions, and some");
        }
        List<Answer> answers = new ArrayList<>();
        for (Object completion : completions) {
            Map<String, @Nullable Object> one = new LinkedHashMap<>(record);
            one.put(own("completion"), completion);
            int number = answers.size();
            answers.add(new Answer(with(record, joined(prompt(record), one, "completion")),
                    scores.isEmpty() ? (float) (completions.size() - 1 - number)
                            : score(Json.members(own("scores"), scores.get(number)), "scores")));
        }
        return answers;
    }

    private float score(Map<String, ? extends @Nullable Object> record, String name) {
        return switch (record.get(own(name))) {
            case Boolean isGood -> isGood ? 1f : 0f;
            case Number number -> number.floatValue();
            case null, default -> throw wrong(record, name, "a number or a truth value");
        };
    }

    private List<?> list(Map<String, ? extends @Nullable Object> record, String name) {
        Object value = record.get(own(name));
        if ((value instanceof String text ? Json.parse(text) : value) instanceof List<?> list) {
            return list;
        }
        throw wrong(record, name, "a list");
    }

    private Conversation answer(Map<String, ? extends @Nullable Object> record, String name) {
        List<Map<String, @Nullable Object>> whole = joined(List.of(), record, name);
        boolean hasQuestion = record.get(own("prompt")) instanceof String
                && whole.stream().anyMatch(message -> "user".equals(message.get("role")));
        if (record.get(own("prompt")) == null || hasQuestion) {
            return with(record, whole);
        }
        return with(record, joined(prompt(record), record, name));
    }

    private List<Map<String, @Nullable Object>> prompt(Map<String, ? extends @Nullable Object> record) {
        return joined(List.of(), record, "prompt");
    }

    /** Appends messages, or a text as one message of the user or, behind a prompt, of the assistant. */
    private List<Map<String, @Nullable Object>> joined(List<Map<String, @Nullable Object>> before,
            Map<String, ? extends @Nullable Object> record, String name) {
        List<Map<String, @Nullable Object>> all = new ArrayList<>(before);
        if (record.get(own(name)) instanceof String text) {
            all.add(message(name.equals("prompt") ? "user" : "assistant", text));
        } else {
            all.addAll(messages(record, name));
        }
        return all;
    }

    private List<Map<String, @Nullable Object>> messages(Map<String, ? extends @Nullable Object> record, String name) {
        List<Map<String, @Nullable Object>> messages = new ArrayList<>();
        for (Map<String, @Nullable Object> one : objects(record, name)) {
            if (!(one.get("role") instanceof String)) {
                throw new IllegalArgumentException(own(name) + "[" + messages.size() + "]: found "
                        + Json.shown(one.get("role")) + " as role, expected a text");
            }
            messages.add(one.containsValue(null) ? withoutNulls(one) : one);
        }
        return messages;
    }

    /** A table has a null for what a message lacks. */
    private static Map<String, @Nullable Object> withoutNulls(Map<String, @Nullable Object> message) {
        Map<String, @Nullable Object> some = new LinkedHashMap<>();
        message.forEach((key, value) -> {
            if (value != null || key.equals("content")) {
                some.put(key, value);
            }
        });
        return some;
    }

    private List<Map<String, @Nullable Object>> shareGpt(Map<String, ? extends @Nullable Object> record) {
        List<Map<String, @Nullable Object>> messages = new ArrayList<>();
        if (record.get(own("system")) instanceof String system && !system.isEmpty()) {
            messages.add(message("system", system));
        }
        for (Map<String, @Nullable Object> turn : objects(record, "conversations")) {
            String role = turn.get("from") instanceof String from ? ROLES.get(from) : null;
            if (role == null || !(turn.get("value") instanceof String text)) {
                throw new IllegalArgumentException(own("conversations") + "[" + messages.size() + "]: found "
                        + Json.shown(turn) + ", expected a text 'value' and 'from' one of " + ROLES.keySet().stream()
                                .sorted().toList());
            }
            Map<String, @Nullable Object> message = message(role, text);
            if (turn.get(AnswerSpans.WEIGHT) != null) {
                message.put(AnswerSpans.WEIGHT, turn.get(AnswerSpans.WEIGHT));
            }
            messages.add(message);
        }
        return messages;
    }

    private List<Map<String, @Nullable Object>> instruction(Map<String, ? extends @Nullable Object> record) {
        List<Map<String, @Nullable Object>> messages = new ArrayList<>();
        if (record.get(own("system")) instanceof String system && !system.isEmpty()) {
            messages.add(message("system", system));
        }
        String input = record.get(own("input")) instanceof String text ? text : "";
        String instruction = text(record, "instruction");
        messages.add(message("user", input.isEmpty() ? instruction : instruction + "\n\n" + input));
        messages.add(message("assistant", text(record, "output")));
        return messages;
    }

    private Conversation with(Map<String, ? extends @Nullable Object> record,
            List<Map<String, @Nullable Object>> messages) {
        Map<String, @Nullable Object> extras = new LinkedHashMap<>();
        for (String name : EXTRAS) {
            Object value = record.get(own(name));
            if (value instanceof String text && !text.isBlank()) {
                extras.put(name, Json.parse(text));        // a table holds it as a text
            } else if (value != null && !(value instanceof String)) {
                extras.put(name, value);
            }
        }
        return new Conversation(messages, extras);
    }

    private static Map<String, @Nullable Object> message(String role, String content) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }

    private String text(Map<String, ? extends @Nullable Object> record, String name) {
        if (record.get(own(name)) instanceof String text) {
            return text;
        }
        throw wrong(record, name, "a text");
    }

    private List<Map<String, @Nullable Object>> objects(Map<String, ? extends @Nullable Object> record, String name) {
        Object value = record.get(own(name));
        Object parsed = value instanceof String text ? Json.parse(text) : value;
        if (!(parsed instanceof List<?> list)) {
            throw wrong(record, name, "a list of objects");
        }
        List<Map<String, @Nullable Object>> objects = new ArrayList<>(list.size());
        for (Object one : list) {
            if (!(one instanceof Map<?, ?>)) {
                throw wrong(record, name, "a list of objects");
            }
            objects.add(Json.object(one));
        }
        return objects;
    }

    private IllegalArgumentException wrong(Map<String, ? extends @Nullable Object> record, String name,
            String expected) {
        return new IllegalArgumentException(record.containsKey(own(name))
                ? own(name) + ": found " + Json.shown(record.get(own(name))) + ", expected " + expected
                : "found no '" + own(name) + "' in an object with " + record.keySet() + ", expected " + expected);
    }

    private String own(String name) {
        return names.getOrDefault(name, name);
    }

    /** The form as {@link #parse} reads it. */
    @Override
    public String toString() {
        return names.isEmpty() ? kind.toString() : kind + ":" + String.join(",", names.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue()).sorted().toList());
    }
}
