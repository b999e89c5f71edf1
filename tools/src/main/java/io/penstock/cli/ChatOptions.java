// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.chat.ChatTemplate;
import io.penstock.chat.ChatTokenizer;
import io.penstock.chat.ConversationForm;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** How conversations become tokens. */
final class ChatOptions {

    static final String MAX_LENGTH = "The most tokens of a conversation; --truncate says what becomes of a longer one.";

    static final String TEMPLATE = "A model's folder, its tokenizer_config.json or chat_template.jinja, a file with a"
            + " template, or the name of a common one: alpaca, chatml, gemma, llama2, llama3, mistral, phi3, vicuna,"
            + " zephyr.";

    private static final Pattern COMMENT = Pattern.compile("\\{#.*?#\\}", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("<\\|?[a-z_]+\\|?>");

    @Option(names = "--template", paramLabel = "TEMPLATE", description = TEMPLATE)
    private @Nullable String template;

    @Option(names = "--form", paramLabel = "FORM",
            description = "Form of the records: messages, sharegpt, prompt-completion, instruction, preference or"
                    + " ranked, and other names of members behind a colon, such as messages:messages=chat; default:"
                    + " detect.")
    private @Nullable ConversationForm form;

    @Option(names = "--turns", paramLabel = "TURNS",
            description = "Answers to train on: all or last; default: all.")
    private ChatTokenizer.Turns turns = ChatTokenizer.Turns.ALL;

    @Option(names = "--no-reasoning", description = "Do not train on what is thought before an answer.")
    private boolean noReasoning;

    @Option(names = "--no-tool-calls", description = "Do not train on answers that call tools.")
    private boolean noToolCalls;

    @Option(names = "--end-of-turn", paramLabel = "CHOICE",
            description = "Whether to train on the token that ends an answer: as-marked by the template, trained or"
                    + " not-trained; default: as-marked.")
    private ChatTokenizer.EndOfTurn endOfTurn = ChatTokenizer.EndOfTurn.AS_MARKED;

    @Option(names = "--special-text", paramLabel = "CHOICE",
            description = "What the text of a special token in a message becomes: ordinary text, allowed (the special"
                    + " token, as in transformers) or forbidden; default: ordinary.")
    private SpecialText specialText = SpecialText.ORDINARY;

    @Option(names = "--media", paramLabel = "TYPE=TOKEN:N",
            description = "Images, sounds and videos in messages: the special token TOKEN that the template writes for"
                    + " one becomes N of it, such as image=<|image_pad|>:256; TYPE is image, audio or video."
                    + " Repeatable.")
    private Map<String, String> media = new LinkedHashMap<>();

    @Option(names = "--truncate", paramLabel = "CHOICE",
            description = "What becomes of a longer one: leave-out, left (cuts its first tokens), right, or turns"
                    + " (leaves out its first turns); default: leave-out.")
    private ChatTokenizer.Truncation truncate = ChatTokenizer.Truncation.LEAVE_OUT;

    /** Whether a template is named. */
    boolean isGiven() {
        return template != null;
    }

    /** The tokenizer beside the template, if that is a model's folder with one. */
    private Optional<Tokenizer> besideTemplate() throws IOException {
        Path file = Path.of(String.valueOf(template)).resolve("tokenizer.json");
        return Files.isRegularFile(file) ? Optional.of(Tokenizer.of(file)) : Optional.empty();
    }

    /** The tokenizer that is named, or else the one beside the template, or else the usual one. */
    Tokenizer tokenizer(TokenizerOptions named) throws IOException {
        Optional<Tokenizer> beside = isGiven() && named.isDefault() ? besideTemplate() : Optional.empty();
        return beside.isPresent() ? beside.get() : named.open();
    }

    ChatTokenizer open(Tokenizer tokenizer, long maxLength) throws IOException {
        if (template == null) {
            throw new UsageException("missing --template, expected a model's folder or the name of a template");
        }
        ChatTokenizer chats = ChatTokenizer.of(open(template), tokenizer)
                .turns(turns).endOfTurn(endOfTurn).textOfSpecialTokens(specialText);
        chats = form == null ? chats : chats.form(form);
        chats = noReasoning ? chats.withoutReasoning() : chats;
        chats = noToolCalls ? chats.withoutToolCalls() : chats;
        for (Map.Entry<String, String> one : media.entrySet()) {
            chats = withMedia(chats, one.getKey(), one.getValue());
        }
        ChatTokenizer unbounded = chats;
        return UsageException.valid("--max-length: ", () -> unbounded.maxTokens(
                (int) Math.min(maxLength, Integer.MAX_VALUE), truncate));
    }

    /** Words such as {@code <|im_end|>} that a common template writes, and that are no special tokens. */
    List<String> ordinaryWords(Tokenizer tokenizer) throws IOException {
        if (template == null || Files.exists(Path.of(template))) {
            return List.of();
        }
        String text = COMMENT.matcher(open(template).source()).replaceAll("");
        return WORD.matcher(text).results().map(MatchResult::group).distinct()
                .filter(word -> !tokenizer.specialTokens().containsKey(word)).toList();
    }

    private static ChatTokenizer withMedia(ChatTokenizer chats, String type, String text) {
        int colon = text.lastIndexOf(':');
        String count = text.substring(colon + 1);
        if (colon < 1 || !count.matches("\\d{1,9}")) {
            throw new UsageException("--media: found '" + type + "=" + text + "', expected TYPE=TOKEN:N");
        }
        return UsageException.valid("--media: ",
                () -> chats.media(type, text.substring(0, colon), Integer.parseInt(count)));
    }

    /** Says how the options' words are read. */
    static void register(CommandLine line) {
        line.registerConverter(ChatTokenizer.Turns.class, new Choice<>(List.of(ChatTokenizer.Turns.values())))
                .registerConverter(ChatTokenizer.EndOfTurn.class,
                        new Choice<>(List.of(ChatTokenizer.EndOfTurn.values())))
                .registerConverter(ChatTokenizer.Truncation.class,
                        new Choice<>(List.of(ChatTokenizer.Truncation.values())))
                .registerConverter(SpecialText.class, new Choice<>(List.of(SpecialText.values())))
                .registerConverter(ConversationForm.class,
                        text -> AmountText.converted(text, ConversationForm::parse));
    }

    /** Opens a template by its path or its name. */
    static ChatTemplate open(String template) throws IOException {
        Path path = Path.of(template);
        if (!Files.exists(path) && !template.contains("/") && !template.contains(".")) {
            try {
                return ChatTemplate.named(template);
            } catch (IllegalArgumentException e) {
                throw new BadInputException(template + ": no such file, and " + e.getMessage(), e);
            }
        }
        return ChatTemplate.of(path);
    }
}
