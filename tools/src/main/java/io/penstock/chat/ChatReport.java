// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.json.Json;
import io.penstock.tokenize.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A conversation for people: its text as the model gets it, and which parts of it are trained on. */
public final class ChatReport {

    private static final String GREEN = "\u001B[32m";
    private static final String PLAIN = "\u001B[0m";

    /** A run of tokens that are trained on, or that are not. */
    private record Run(String text, boolean isTrained) {
    }

    private final @Nullable ChatTokens tokens;
    private final List<Run> runs = new ArrayList<>();

    private ChatReport(@Nullable ChatTokens tokens, Tokenizer tokenizer) {
        this.tokens = tokens;
        if (tokens != null) {
            addRuns(tokens, tokenizer);
        }
    }

    /**
     * {@return what a record's conversation becomes}
     *
     * @param encoder makes its tokens
     * @param record the record's members
     * @throws IllegalArgumentException if it has no conversation, or the template refuses it
     */
    public static ChatReport of(ChatTokenizer encoder, Map<String, ? extends @Nullable Object> record) {
        Optional<ChatTokens> tokens = encoder.tokens(encoder.conversation(record));
        return new ChatReport(tokens.orElse(null), encoder.tokenizer());
    }

    private void addRuns(ChatTokens all, Tokenizer tokenizer) {
        int count = all.ids().length;
        for (int from = 0; from < count; ) {
            boolean isTrained = all.trained().get(from);
            int next = isTrained ? all.trained().nextClearBit(from) : all.trained().nextSetBit(from);
            int end = next < 0 ? count : Math.min(next, count);
            runs.add(new Run(new String(tokenizer.decode(Arrays.copyOfRange(all.ids(), from, end)),
                    StandardCharsets.UTF_8), isTrained));
            from = end;
        }
    }

    /** {@return text, tokens and ids for programs; {@code left_out} is true if the conversation gives no sample} */
    public Map<String, @Nullable Object> toJson() {
        if (tokens == null) {
            return Json.members("left_out", true);
        }
        List<Long> trained = new ArrayList<>();
        for (int i = 0; i < tokens.ids().length; i++) {
            trained.add(tokens.trained().get(i) ? 1L : 0L);
        }
        return Json.members("left_out", false, "text", tokens.text(), "tokens", (long) tokens.ids().length,
                "trained", (long) tokens.trained().cardinality(), "ids", Arrays.stream(tokens.ids()).asLongStream()
                        .boxed().toList(), "mask", trained);
    }

    /** {@return the text, with {@code [[} and {@code ]]} around what is trained on} */
    public String toText() {
        return toText("[[", "]]");
    }

    /** {@return the text for a terminal, with what is trained on in green} */
    public String toColoredText() {
        return toText(GREEN, PLAIN);
    }

    private String toText(String before, String behind) {
        StringBuilder text = new StringBuilder();
        for (Run run : runs) {
            text.append(run.isTrained ? before : "").append(run.text).append(run.isTrained ? behind : "");
        }
        if (!text.isEmpty() && text.charAt(text.length() - 1) != '\n') {
            text.append('\n');
        }
        return text.append(summary()).append('\n').toString();
    }

    /**
     * {@return a page of HTML with the trained tokens in green}
     *
     * @param title its title
     */
    public String toHtml(String title) {
        StringBuilder page = new StringBuilder("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                + "<title>").append(escaped(title)).append("</title>\n<style>\n:root { color-scheme: light dark; }\n"
                + "body { font-family: sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }\n"
                + "pre { white-space: pre-wrap; overflow-wrap: anywhere; }\n"
                + "mark { background: light-dark(#b7ebc6, #1d5b34); color: inherit; }\n</style>\n</head>\n<body>\n<h1>")
                .append(escaped(title)).append("</h1>\n<p>").append(summary())
                .append(" The marked ones are trained on.</p>\n<pre>");
        for (Run run : runs) {
            page.append(run.isTrained ? "<mark>" : "").append(escaped(run.text)).append(run.isTrained ? "</mark>" : "");
        }
        return page.append("</pre>\n</body>\n</html>\n").toString();
    }

    private String summary() {
        return tokens == null ? "Left out: it is too long, or none of its tokens is trained on."
                : tokens.trained().cardinality() + " of " + tokens.ids().length + " tokens are trained on.";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
