// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.json.Json;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the assistant says in a rendered conversation: as the template marks it, or else what each answer adds to the
 * text.
 */
record AnswerSpans(ChatTemplate template, ChatTemplate.Options options, Collection<String> specials,
        Conversation conversation, ChatTemplate.Rendered rendered) {

    static final String WEIGHT = "weight";
    private static final String END_OF_THOUGHT = "</think>";
    private static final List<String> REASONING = List.of("reasoning_content", "reasoning", "thinking");

    /**
     * An answer.
     *
     * @param span its chars in the text
     * @param message the message; null if there is no telling which it is
     */
    record Answer(ChatTemplate.AssistantSpan span, @Nullable Map<String, @Nullable Object> message) {

        boolean isTrained(boolean withToolCalls) {
            return message == null || AnswerSpans.isTrained(message, withToolCalls);
        }

        /** Returns the span behind what was thought; the whole if nothing was. */
        ChatTemplate.AssistantSpan withoutReasoning(String text) {
            int end = text.lastIndexOf(END_OF_THOUGHT, span.end() - END_OF_THOUGHT.length());
            int start = end >= span.start() ? end + END_OF_THOUGHT.length() : span.start();
            if (start == span.start() && message != null) {
                for (String name : REASONING) {
                    if (message.get(name) instanceof String thought && !thought.isBlank()) {
                        int at = text.indexOf(thought.strip(), span.start());
                        start = at >= 0 && at + thought.strip().length() <= span.end() ? at + thought.strip().length()
                                : start;
                    }
                }
            }
            return new ChatTemplate.AssistantSpan(start, span.end());
        }
    }

    /** Tells whether a message's weight is not 0, and it calls no tools or these are trained on. */
    private static boolean isTrained(Map<String, @Nullable Object> message, boolean withToolCalls) {
        return !isZero(message.get(WEIGHT))
                && (withToolCalls || !(message.get("tool_calls") instanceof List<?> calls) || calls.isEmpty());
    }

    private static boolean isZero(@Nullable Object weight) {
        return weight instanceof Number number && number.doubleValue() == 0 || Boolean.FALSE.equals(weight);
    }

    private static boolean isOne(@Nullable Object weight) {
        return weight instanceof Number number && number.doubleValue() == 1 || Boolean.TRUE.equals(weight);
    }

    List<Answer> find(boolean lastOnly, boolean withToolCalls) {
        List<Integer> answers = new ArrayList<>();
        for (int i = 0; i < conversation.messages().size(); i++) {
            if (conversation.isAnswer(i)) {
                answers.add(i);
            }
            Object weight = conversation.messages().get(i).get(WEIGHT);
            if (weight != null && !isZero(weight) && !isOne(weight)) {
                throw new IllegalArgumentException("messages[" + i + "]: found weight " + Json.shown(weight)
                        + ", expected 0 or 1: a token is trained on or not");
            }
        }
        List<Answer> all = template.marksAssistant() ? marked(answers, withToolCalls) : added(answers, lastOnly);
        return lastOnly && all.size() > 1 ? List.of(all.getLast()) : all;
    }

    private List<Answer> marked(List<Integer> answers, boolean withToolCalls) {
        List<ChatTemplate.AssistantSpan> spans = rendered.assistant();
        boolean areKnown = spans.size() == answers.size();
        for (int answer : areKnown ? List.<Integer>of() : answers) {
            if (!isTrained(conversation.messages().get(answer), withToolCalls)) {
                throw new IllegalArgumentException("messages[" + answer + "]: found " + spans.size() + " texts that the"
                        + " template marks for " + answers.size() + " answers, so the one not to train on cannot be"
                        + " told");
            }
        }
        List<Answer> all = new ArrayList<>();
        for (int i = 0; i < spans.size(); i++) {
            all.add(new Answer(spans.get(i), areKnown ? conversation.messages().get(answers.get(i)) : null));
        }
        return all;
    }

    private List<Answer> added(List<Integer> answers, boolean lastOnly) {
        List<Answer> all = new ArrayList<>();
        for (int answer : lastOnly && !answers.isEmpty() ? List.of(answers.getLast()) : answers) {
            all.add(new Answer(added(answer), conversation.messages().get(answer)));
        }
        return all;
    }

    private ChatTemplate.AssistantSpan added(int answer) {
        Conversation with = conversation.first(answer + 1);
        String text = answer + 1 == conversation.messages().size() ? rendered.text() : render(with, false);
        if (!rendered.text().startsWith(text)) {
            throw new IllegalArgumentException("messages[" + answer + "]: the template renders this answer otherwise"
                    + " once the conversation goes on (it looks ahead), expected one that it keeps: train on the last"
                    + " answer only, or give each answer a conversation of its own");
        }
        String before = answer == 0 ? "" : render(conversation.first(answer), true);
        if (!text.startsWith(before)) {
            throw new IllegalArgumentException("messages[" + answer + "]: the conversation without this answer is not"
                    + " the beginning of that with it, so what it adds cannot be told; a template with"
                    + " {% generation %} marks it");
        }
        return new ChatTemplate.AssistantSpan(before.length(), endOfTurn(text, before.length()));
    }

    private String render(Conversation some, boolean asksForAnswer) {
        return template.render(some.variables(asksForAnswer), options).text();
    }

    /** Returns the end of the last special token behind which there is only white space; else the end of the text. */
    private int endOfTurn(String text, int from) {
        int end = text.length();
        while (end > from && Character.isWhitespace(text.charAt(end - 1))) {
            end--;
        }
        for (String special : specials) {
            if (text.startsWith(special, end - special.length()) && end - special.length() >= from) {
                return end;
            }
        }
        return text.length();
    }
}
