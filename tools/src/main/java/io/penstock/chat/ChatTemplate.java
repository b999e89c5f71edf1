// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A model's chat template: makes the text of a conversation that the model was trained on.
 *
 * {@snippet :
 * ChatTemplate template = ChatTemplate.of(Path.of("model"));     // the folder with tokenizer_config.json
 * ChatTemplate.Rendered chat = template.render(Map.of("messages", List.of(
 *         Map.of("role", "user", "content", "Hi"),
 *         Map.of("role", "assistant", "content", "Hello!"))));
 * System.out.println(chat.text());
 * }
 *
 * <p>Templates are Jinja as {@code apply_chat_template} of Hugging Face's transformers runs it: with {@code
 * trim_blocks}, {@code lstrip_blocks}, {@code break} and {@code continue}, {@code generation} blocks, {@code
 * raise_exception}, {@code strftime_now}, and the {@code tojson} that keeps what it is given. The text is the same, to
 * the character. What is not supported, such as {@code include}, a recursive loop or an unknown filter, is refused when
 * the template is opened. A template is compiled once, sees nothing but the conversation, and cannot change it; its
 * steps, its text and its depth are bounded ({@link Limits}).
 *
 * <p>A conversation is JSON: maps, lists, strings, booleans, {@code Long}, {@code BigInteger}, {@code Double} and null.
 * Its members are {@code messages} and, if they are there, {@code tools}, {@code documents}, {@code
 * add_generation_prompt}, and {@code chat_template_kwargs} or {@code kwargs}, a map of further variables such as {@code
 * enable_thinking}. Others are ignored.
 *
 * <p>Immutable; any number of threads may render.
 */
@NullMarked
public final class ChatTemplate {

    /**
     * What the assistant says, as a range of a rendered text.
     *
     * @param start its first char
     * @param end the char behind its last
     */
    public record AssistantSpan(int start, int end) {
    }

    /**
     * A rendered conversation.
     *
     * @param text the text
     * @param assistant what the template marks by {@code {% generation %}}, in the order in which the blocks end; empty
     *     if it marks nothing. As in transformers, a block within a macro has the place of the macro's text
     */
    public record Rendered(String text, List<AssistantSpan> assistant) {

        /** {@return the spans in code points of the text, as Python counts} */
        public List<AssistantSpan> assistantCodePoints() {
            boolean isPlain = text.codePointCount(0, text.length()) == text.length();
            return isPlain ? assistant : assistant.stream().map(span -> new AssistantSpan(
                    text.codePointCount(0, span.start()), text.codePointCount(0, span.end()))).toList();
        }
    }

    /**
     * What a rendering may take.
     *
     * @param chars the chars of a text, and the chars or items of any value on the way
     * @param steps statements, items of loops, calls, and 64 chars that are read or made
     * @param depth macros that call each other
     */
    public record Limits(long chars, long steps, int depth) {

        /** 64 Mi chars, 100 million steps, 100 deep. */
        public static final Limits DEFAULT = new Limits(1 << 26, 100_000_000, 100);

        /** Checks that the limits are positive, and that there are fewer than 2^30 chars. */
        public Limits {
            if (chars < 1 || chars >= 1 << 30 || steps < 1 || depth < 1) {
                throw new IllegalArgumentException("chars " + chars + ", steps " + steps + ", depth " + depth
                        + ": expected positive limits, and less than 2^30 chars");
            }
        }
    }

    /**
     * What holds for all conversations that are rendered with it.
     *
     * @param variables further variables, which come before those of a conversation
     * @param now what {@code strftime_now} formats; null for the time of the rendering
     * @param limits the bounds
     */
    public record Options(Map<String, @Nullable Object> variables, @Nullable LocalDateTime now, Limits limits) {

        /** No variables, the present time, the default limits. */
        public static final Options DEFAULT = new Options(Map.of(), null, Limits.DEFAULT);

        /** Copies the variables. */
        public Options {
            variables = Collections.unmodifiableMap(new LinkedHashMap<>(variables));
        }

        /**
         * {@return options with one more variable; {@code add_generation_prompt} is one}
         *
         * @param name the variable's name
         * @param value its value
         */
        public Options with(String name, @Nullable Object value) {
            Map<String, @Nullable Object> all = new LinkedHashMap<>(variables);
            all.put(name, value);
            return new Options(all, now, limits);
        }

        /**
         * {@return options for which it is always the same time}
         *
         * @param time the time
         */
        public Options at(LocalDateTime time) {
            return new Options(variables, time, limits);
        }
    }

    /** A template that is read. */
    private record Compiled(String source, Parser.Parsed parsed, String[] inputs) {

        static Compiled of(String text) {
            String source = Lexer.normalized(text);
            Parser.Parsed parsed = Parser.parse(source);
            String[] inputs = new String[parsed.scope().inputs().size()];
            parsed.scope().inputs().forEach((name, index) -> inputs[index] = name);
            return new Compiled(source, parsed, inputs);
        }
    }

    private static final String TOOL_USE = "tool_use";

    private final Compiled main;
    /** The template for conversations with tools, if there is one of its own. */
    private final @Nullable Compiled withTools;
    private final Map<String, String> specialTokens;

    private ChatTemplate(Compiled main, @Nullable Compiled withTools, Map<String, String> specialTokens) {
        this.main = main;
        this.withTools = withTools;
        this.specialTokens = Collections.unmodifiableMap(new LinkedHashMap<>(specialTokens));
    }

    /**
     * Reads the template of a model.
     *
     * @param path a model's folder with {@code tokenizer_config.json}, {@code chat_template.jinja} or both; or one of
     *     these files; or another file with the text of a template. The special tokens are those of the {@code
     *     tokenizer_config.json}, also that beside a {@code chat_template.jinja}. Of several templates the one named
     *     {@code default} is taken, and for conversations with tools the one named {@code tool_use}
     * @return the template
     * @throws ChatTemplateException if the template is malformed or has something that is not supported; names the file
     * @throws IOException if a file cannot be read or has no template
     */
    public static ChatTemplate of(Path path) throws IOException {
        TemplateFiles files = TemplateFiles.read(path);
        try {
            String withTools = files.templates().get(TOOL_USE);
            return new ChatTemplate(Compiled.of(files.main()), withTools == null ? null : Compiled.of(withTools),
                    files.specialTokens());
        } catch (ChatTemplateException e) {
            throw new ChatTemplateException(path + ": " + e.getMessage());
        }
    }

    /**
     * Returns a common template by its name, as written for this project: {@code alpaca}, {@code chatml}, {@code
     * gemma}, {@code llama2}, {@code llama3}, {@code mistral}, {@code phi3}, {@code vicuna} or {@code zephyr}. They
     * mark what the assistant says, with the token that ends its turn.
     *
     * @param name the name
     * @return the template
     * @throws IllegalArgumentException if there is none of the name
     */
    public static ChatTemplate named(String name) {
        return new ChatTemplate(Compiled.of(NamedTemplate.text(name)), null, NamedTemplate.specialTokens(name));
    }

    /**
     * Reads the text of a template, which has no special tokens: {@link #withSpecialTokens} gives it some.
     *
     * @param text the text
     * @return the template
     * @throws ChatTemplateException if it is malformed or has something that is not supported
     */
    public static ChatTemplate parse(String text) {
        return new ChatTemplate(Compiled.of(text), null, Map.of());
    }

    /**
     * {@return the same template with other special tokens}
     *
     * @param tokens the tokens' texts by their names, such as {@code bos_token}
     */
    public ChatTemplate withSpecialTokens(Map<String, String> tokens) {
        return new ChatTemplate(main, withTools, tokens);
    }

    /** {@return the special tokens, which are variables of the template, by names such as {@code eos_token}} */
    public Map<String, String> specialTokens() {
        return specialTokens;
    }

    /** {@return the text of the template, with line feeds} */
    public String source() {
        return main.source();
    }

    /** {@return whether the template marks what the assistant says by {@code {% generation %}}} */
    public boolean marksAssistant() {
        return main.parsed().hasGeneration();
    }

    /**
     * Renders a conversation with the default options.
     *
     * @param conversation its members, as the class comment says; it is not changed
     * @return its text
     * @throws ChatTemplateException as {@link #render(Map, Options)}
     */
    public Rendered render(Map<String, ? extends @Nullable Object> conversation) {
        return render(conversation, Options.DEFAULT);
    }

    /**
     * Renders a conversation.
     *
     * @param conversation its members, as the class comment says; it is not changed
     * @param options what holds for all conversations
     * @return its text
     * @throws ChatTemplateException if the template refuses the conversation, fails on it, or needs more than a limit;
     *     says where in the template
     */
    public Rendered render(Map<String, ? extends @Nullable Object> conversation, Options options) {
        Compiled compiled = withTools != null && conversation.get("tools") != null ? withTools : main;
        LocalDateTime now = options.now() == null ? LocalDateTime.now() : options.now();
        Render render = new Render(inputs(compiled, conversation, options), now, options.limits());
        try {
            Frame frame = new Frame(compiled.parsed().scope(), null, render, render.text);
            compiled.parsed().scope().enter(frame);
            Statement.run(compiled.parsed().body(), frame);
        } catch (ChatTemplateException e) {
            throw ChatTemplateException.at(compiled.source(), render.at, String.valueOf(e.getMessage()));
        } catch (StackOverflowError _) {
            throw ChatTemplateException.at(compiled.source(), render.at, "values or calls are nested too deep");
        }
        return new Rendered(render.text.toString(), render.spans());
    }

    private @Nullable Object[] inputs(Compiled compiled, Map<String, ? extends @Nullable Object> conversation,
            Options options) {
        @Nullable Object[] inputs = new @Nullable Object[compiled.inputs().length];
        Map<?, ?> first = variables(conversation, "kwargs");
        Map<?, ?> second = variables(conversation, "chat_template_kwargs");
        for (int i = 0; i < inputs.length; i++) {
            String name = compiled.inputs()[i];
            Map<?, ?> variables = options.variables().containsKey(name) ? options.variables()
                    : first.containsKey(name) ? first : second;
            inputs[i] = number(variables.containsKey(name) ? variables.get(name) : input(name, conversation));
        }
        return inputs;
    }

    /** A variable that Java code passes may be an {@code int}. */
    private static @Nullable Object number(@Nullable Object value) {
        return value instanceof Integer whole ? (Object) whole.longValue()
                : value instanceof Float real ? (Object) real.doubleValue() : value;
    }

    private static Map<?, ?> variables(Map<String, ? extends @Nullable Object> conversation, String member) {
        return conversation.get(member) instanceof Map<?, ?> variables ? variables : Map.of();
    }

    private @Nullable Object input(String name, Map<String, ? extends @Nullable Object> conversation) {
        return switch (name) {
            case "messages", "tools", "documents" -> conversation.get(name);
            case "add_generation_prompt" -> conversation.containsKey(name) ? conversation.get(name) : Boolean.FALSE;
            default -> specialTokens.containsKey(name) ? specialTokens.get(name) : Functions.find(name);
        };
    }
}
