// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.json.Json;
import io.penstock.tokenize.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts runs of tokens in the place of the one that a template writes for an image, a sound or a video, as the
 * processors of transformers do. Immutable.
 *
 * @param kinds the types of parts
 */
record MediaTokens(List<Kind> kinds) {

    static final MediaTokens NONE = new MediaTokens(List.of());
    static final List<String> TYPES = List.of("image", "audio", "video");
    private static final int MOST_TOKENS = 1 << 24;

    /**
     * A type of parts.
     *
     * @param type its name
     * @param id the token that the template writes once for each
     * @param tokens how many there are to be if a part does not say it
     */
    record Kind(String type, int id, int tokens) {
    }

    MediaTokens and(String type, String token, int tokens, Tokenizer tokenizer) {
        Integer id = tokenizer.specialTokens().get(token);
        if (!TYPES.contains(type) || id == null || tokens < 1 || tokens > MOST_TOKENS
                || kinds.stream().anyMatch(kind -> kind.type.equals(type) || kind.id == id)) {
            throw new IllegalArgumentException("found " + tokens + " tokens '" + token + "' for a part of type '" + type
                    + "', expected a type of " + TYPES + ", a special token of the tokenizer, each once, and 1 to "
                    + MOST_TOKENS + " tokens");
        }
        List<Kind> more = new ArrayList<>(kinds);
        more.add(new Kind(type, id, tokens));
        return new MediaTokens(List.copyOf(more));
    }

    /** Returns the tokens with whole runs, none of which is trained on, and where they are. */
    ChatTokens expanded(Conversation conversation, ChatTokens tokens) {
        if (kinds.isEmpty()) {
            return tokens;
        }
        List<List<MediaRun>> parts = kinds.stream().map(kind -> parts(conversation, kind)).toList();
        int[] next = new int[kinds.size()];
        int[] ids = tokens.ids();
        int[] all = new int[ids.length + parts.stream().flatMap(List::stream).mapToInt(part -> part.tokens() - 1)
                .sum()];
        BitSet trained = new BitSet();
        List<MediaRun> runs = new ArrayList<>();
        int count = 0;
        for (int i = 0; i < ids.length; i++) {
            int kind = kindOf(ids[i]);
            if (kind >= 0 && next[kind]++ < parts.get(kind).size()) {
                MediaRun part = parts.get(kind).get(next[kind] - 1);
                runs.add(new MediaRun(part.type(), part.name(), count, part.tokens()));
                Arrays.fill(all, count, count + part.tokens(), ids[i]);
                count += part.tokens();
            } else if (kind < 0) {
                trained.set(count, tokens.trained().get(i));
                all[count++] = ids[i];
            }
        }
        for (int kind = 0; kind < next.length; kind++) {
            if (next[kind] != parts.get(kind).size()) {
                throw new IllegalArgumentException("found " + parts.get(kind).size() + " parts of type '"
                        + kinds.get(kind).type + "' and " + next[kind] + " places that the template makes for them,"
                        + " expected as many");
            }
        }
        return new ChatTokens(tokens.text(), all, trained, runs);
    }

    private int kindOf(int id) {
        for (int kind = 0; kind < kinds.size(); kind++) {
            if (kinds.get(kind).id == id) {
                return kind;
            }
        }
        return -1;
    }

    /** Returns the parts of a type in the messages' order, with no place yet. */
    private static List<MediaRun> parts(Conversation conversation, Kind kind) {
        List<MediaRun> parts = new ArrayList<>();
        for (int i = 0; i < conversation.messages().size(); i++) {
            if (conversation.messages().get(i).get("content") instanceof List<?> content) {
                for (Object part : content) {
                    if (part instanceof Map<?, ?> map && map.get("type") instanceof String type
                            && kind.type.equals(type.replace("input_", "").replace("_url", ""))) {
                        parts.add(new MediaRun(kind.type, name(map, kind.type), 0, tokens(map, kind, i)));
                    }
                }
            }
        }
        return parts;
    }

    private static int tokens(Map<?, ?> part, Kind kind, int message) {
        return switch (part.get("tokens")) {
            case null -> kind.tokens;
            case Long tokens when tokens >= 1 && tokens <= MOST_TOKENS -> tokens.intValue();
            case Object other -> throw new IllegalArgumentException("messages[" + message + "]: found "
                    + Json.shown(other) + " as tokens of a part, expected 1 to " + MOST_TOKENS);
        };
    }

    /** Returns what a part names as its content; empty if it names nothing. */
    private static String name(Map<?, ?> part, String type) {
        for (String member : List.of(type, type + "_url", "url", "path", "file")) {
            Object value = part.get(member);
            String text = value instanceof String whole ? whole : value instanceof Map<?, ?> map ? text(map) : null;
            if (text != null && text.indexOf('\n') >= 0) {
                throw new IllegalArgumentException("found " + Json.shown(text) + " as the name of a part, expected one"
                        + " line");
            }
            if (text != null) {
                return text;
            }
        }
        return "";
    }

    private static @Nullable String text(Map<?, ?> map) {
        return map.get("url") instanceof String url ? url : map.get("path") instanceof String path ? path : null;
    }
}
