// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.chat.ChatTemplate;
import io.penstock.chat.ChatTokenizer;
import io.penstock.chat.ConversationEncoder;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What makes tokens of conversations, in a form that can be sent to executors: the files of a template, and what is to
 * be set of the {@link ChatTokenizer}. Only the driver needs to see the files. Thread-safe.
 *
 * {@snippet :
 * ChatSource chats = ChatSource.of(Path.of("model"), chat -> chat.turns(ChatTokenizer.Turns.LAST));
 * ChatSource pairs = ChatSource.of(Path.of("model"), AnswerTokenizer::of);
 * }
 */
public final class ChatSource implements Serializable {

    private static final long serialVersionUID = 1;
    private static final List<String> FILES = List.of("tokenizer_config.json", "chat_template.jinja");

    /** Sets what is trained on, how long conversations may be, and whether answers are compared. */
    @FunctionalInterface
    public interface Settings extends Serializable {

        /**
         * {@return what encodes a record}
         *
         * @param chats an encoder with the defaults
         */
        ConversationEncoder of(ChatTokenizer chats);
    }

    /** The files of the template by name; empty for one that is named. */
    private final HashMap<String, byte[]> files = new HashMap<>();
    /** The name of a template or of its file; empty for a folder. */
    private final String name;
    /** Sets what the encoder is to do, on each executor. */
    private final Settings settings;
    private transient @Nullable ConversationEncoder encoder;

    private ChatSource(String name, Settings settings) {
        this.name = name;
        this.settings = Objects.requireNonNull(settings, "settings");
    }

    /**
     * {@return the conversations of a model's template}
     *
     * @param template a path, as {@link ChatTemplate#of(Path)} takes it
     * @param settings what is set; it must be serializable, as a lambda of serializable values is
     * @throws IOException if a file cannot be read or has no template
     */
    public static ChatSource of(Path template, Settings settings) throws IOException {
        ChatTemplate.of(template);
        boolean isFolder = Files.isDirectory(template);
        ChatSource source = new ChatSource(isFolder ? "" : String.valueOf(template.getFileName()), settings);
        if (!isFolder) {
            source.files.put(source.name, Files.readAllBytes(template));
        }
        for (String file : FILES) {
            Path found = isFolder ? template.resolve(file) : template.resolveSibling(file);
            if (Files.isRegularFile(found) && (isFolder || FILES.contains(source.name))) {
                source.files.put(file, Files.readAllBytes(found));
            }
        }
        return source;
    }

    /**
     * {@return the conversations of a common template}
     *
     * @param template its name, as {@link ChatTemplate#named} takes it
     * @param settings what is set; it must be serializable, as a lambda of serializable values is
     * @throws IllegalArgumentException if there is none of the name
     */
    public static ChatSource named(String template, Settings settings) {
        ChatTemplate.named(template);
        return new ChatSource(template, settings);
    }

    /** The encoder, made by the first call. */
    synchronized ConversationEncoder encoder(Tokenizer tokenizer) throws IOException {
        ConversationEncoder made = encoder;
        if (made == null) {
            made = settings.of(ChatTokenizer.of(template(), tokenizer));
            encoder = made;
        }
        return made;
    }

    private ChatTemplate template() throws IOException {
        if (files.isEmpty()) {
            return ChatTemplate.named(name);
        }
        Path folder = Files.createTempDirectory("penstock-template");
        try {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                Files.write(folder.resolve(file.getKey()), file.getValue());
            }
            return ChatTemplate.of(folder.resolve(name));
        } finally {
            for (String file : files.keySet()) {
                Files.deleteIfExists(folder.resolve(file));
            }
            Files.delete(folder);
        }
    }
}
