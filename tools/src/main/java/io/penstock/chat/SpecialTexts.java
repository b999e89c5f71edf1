// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds texts of special tokens in what people wrote, and puts marks in their place that no template takes for
 * anything: characters of Unicode's private use that the conversation lacks. Immutable.
 */
final class SpecialTexts {

    private static final char FIRST_PRIVATE = '\uE000';
    private static final char LAST_PRIVATE = '\uF8FF';

    private final Map<Character, List<String>> byFirst = new HashMap<>();

    SpecialTexts(Collection<String> texts) {
        texts.stream().filter(text -> !text.isEmpty())
                .sorted(Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()))
                .forEach(text -> byFirst.computeIfAbsent(text.charAt(0), _ -> new ArrayList<>()).add(text));
    }

    /** Returns the longest special text at a place; null if there is none. */
    private @Nullable String at(String text, int index) {
        List<String> some = byFirst.get(text.charAt(index));
        if (some != null) {
            for (String one : some) {
                if (text.startsWith(one, index)) {
                    return one;
                }
            }
        }
        return null;
    }

    private boolean isIn(String text) {
        for (char first : byFirst.keySet()) {
            for (int at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
                if (at(text, at) != null) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Tells whether a text in a JSON value, members' names aside, has one. */
    boolean areIn(@Nullable Object value) {
        return switch (value) {
            case String text -> isIn(text);
            case Map<?, ?> map -> areInSome(map.values());
            case List<?> list -> areInSome(list);
            case null, default -> false;
        };
    }

    private boolean areInSome(Collection<?> values) {
        for (Object value : values) {
            if (areIn(value)) {
                return true;
            }
        }
        return false;
    }

    /** Starts marking the special texts of a conversation. */
    Marks marks(Object conversation) {
        boolean[] used = new boolean[LAST_PRIVATE - FIRST_PRIVATE + 1];
        findPrivate(conversation, used);
        List<Character> free = new ArrayList<>();
        for (int i = 0; i < used.length && free.size() < 2; i++) {
            if (!used[i]) {
                free.add((char) (FIRST_PRIVATE + i));
            }
        }
        if (free.size() < 2) {
            throw new IllegalArgumentException("found special tokens in a text that has all characters of private use");
        }
        return new Marks(free.get(0), free.get(1));
    }

    private static void findPrivate(@Nullable Object value, boolean[] used) {
        switch (value) {
            case String text -> text.chars().filter(c -> c >= FIRST_PRIVATE && c <= LAST_PRIVATE)
                    .forEach(c -> used[c - FIRST_PRIVATE] = true);
            case Map<?, ?> map -> map.values().forEach(one -> findPrivate(one, used));
            case List<?> list -> list.forEach(one -> findPrivate(one, used));
            case null, default -> { }
        }
    }

    /** The marks of one conversation: number n is an opening character, n closing ones and an opening one. */
    final class Marks {

        private final char open;
        private final char count;
        private final List<String> marked = new ArrayList<>();

        private Marks(char open, char count) {
            this.open = open;
            this.count = count;
        }

        /** Returns a JSON value with marks in place of special texts. */
        @Nullable Object mark(@Nullable Object value) {
            return switch (value) {
                case String text -> isIn(text) ? mark(text) : text;
                case Map<?, ?> map -> {
                    Map<Object, @Nullable Object> copy = new LinkedHashMap<>();
                    map.forEach((name, one) -> copy.put(name, mark(one)));
                    yield copy;
                }
                case List<?> list -> {
                    List<@Nullable Object> copy = new ArrayList<>();
                    list.forEach(one -> copy.add(mark(one)));
                    yield copy;
                }
                case null -> null;
                default -> value;
            };
        }

        private String mark(String text) {
            StringBuilder marks = new StringBuilder();
            for (int i = 0; i < text.length(); ) {
                String special = at(text, i);
                if (special == null) {
                    marks.append(text.charAt(i++));
                    continue;
                }
                int number = marked.indexOf(special);
                if (number < 0) {
                    number = marked.size();
                    marked.add(special);
                }
                marks.append(open).append(String.valueOf(count).repeat(number)).append(open);
                i += special.length();
            }
            return marks.toString();
        }

        /**
         * Puts the special texts back into a rendered text.
         *
         * @param places receives where each begins and ends, in chars of the result
         */
        String unmark(String rendered, List<ChatTemplate.AssistantSpan> places) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < rendered.length(); i++) {
                if (rendered.charAt(i) != open) {
                    text.append(rendered.charAt(i));
                    continue;
                }
                int end = i + 1;
                while (end < rendered.length() && rendered.charAt(end) == count) {
                    end++;
                }
                if (end == rendered.length() || rendered.charAt(end) != open || end - i - 1 >= marked.size()) {
                    text.append(rendered, i, end);         // cut by the template
                    i = end - 1;
                    continue;
                }
                String special = marked.get(end - i - 1);
                places.add(new ChatTemplate.AssistantSpan(text.length(), text.length() + special.length()));
                text.append(special);
                i = end;
            }
            return text.toString();
        }
    }
}
