// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A conversation as templates read it.
 *
 * @param messages its messages in order, each a map with {@code role}, {@code content} and what else there is
 * @param extras further members, such as {@code tools}
 */
public record Conversation(List<Map<String, @Nullable Object>> messages, Map<String, @Nullable Object> extras) {

    /** {@return the first messages of it}
     *
     * @param count how many
     */
    Conversation first(int count) {
        return new Conversation(messages.subList(0, count), extras);
    }

    /** {@return what a template is rendered with}
     *
     * @param asksForAnswer whether the text ends with what comes before an answer
     */
    Map<String, @Nullable Object> variables(boolean asksForAnswer) {
        Map<String, @Nullable Object> variables = new LinkedHashMap<>(extras);
        variables.put("messages", messages);
        variables.put("add_generation_prompt", asksForAnswer);
        return variables;
    }

    boolean isAnswer(int message) {
        return "assistant".equals(messages.get(message).get("role"));
    }
}
