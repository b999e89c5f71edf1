// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.chat.ChatTemplate;
import io.penstock.chat.ChatTemplateException;
import io.penstock.io.local.RegularFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "chat",
        description = "Shows what conversations become with a model's chat template.",
        subcommands = {ChatCommand.Render.class, ChatShowCommand.class})
final class ChatCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("UnusedVariable")
    private Report report;

    @Override
    public Integer call() {
        throw new UsageException("missing command, expected render or show");
    }

    @Command(
            name = "render",
            description = "Prints the text of each conversation, and what the assistant says in it.",
            footer = {"", "Example: penstock chat render model/ conversations.json",
                "", "CONVERSATIONS is a JSON object of conversations by name, an array of them, or one conversation: an"
                    + " object with 'messages' and, if needed, 'tools', 'documents', 'add_generation_prompt' and"
                    + " 'kwargs', an object of further variables.",
                "", "Prints one JSON line per conversation: 'name', 'text' and 'assistant_spans', the [start, end)"
                    + " in code points that the template marks with {%% generation %%}; or 'name' and 'error'.",
                "", "A template without tokenizer_config.json gets the special tokens <s>, </s>, <unk> and <pad>."})
    static final class Render implements Callable<Integer> {

        private static final Map<String, String> USUAL_TOKENS = Map.of("bos_token", "<s>", "eos_token", "</s>",
                "unk_token", "<unk>", "pad_token", "<pad>");

        @Mixin
        private Report report;

        @Parameters(index = "0", paramLabel = "TEMPLATE", description = ChatOptions.TEMPLATE)
        private String template;

        @Parameters(index = "1", paramLabel = "CONVERSATIONS", description = "JSON file with conversations.")
        private Path conversations;

        @Option(names = "--token", paramLabel = "NAME=TEXT",
                description = "A special token, such as bos_token=<s>. Repeatable.")
        private Map<String, String> tokens = new LinkedHashMap<>();

        @Option(names = "--now", paramLabel = "DATE", description = "Date for strftime_now, such as 2026-11-26 or"
                + " 2026-11-26T18:30; default: now.")
        private @Nullable String now;

        @Override
        public Integer call() throws IOException {
            ChatTemplate.Options options = now == null ? ChatTemplate.Options.DEFAULT
                    : ChatTemplate.Options.DEFAULT.at(time(now));
            Map<String, @Nullable Object> named = read(conversations);
            ChatTemplate opened;
            try {
                opened = withTokens(ChatOptions.open(template));
            } catch (ChatTemplateException e) {
                named.keySet().forEach(name -> report.printLine(Json.members("name", name, "error", e.getMessage())));
                throw new BadInputException(String.valueOf(e.getMessage()), e);
            }
            for (Map.Entry<String, @Nullable Object> entry : named.entrySet()) {
                if (!report.printLine(rendered(opened, entry.getKey(), entry.getValue(), options))) {
                    break;
                }
            }
            return ExitCode.SUCCESS;
        }

        private static LocalDateTime time(String text) {
            try {
                return text.contains("T") ? LocalDateTime.parse(text) : LocalDate.parse(text).atTime(LocalTime.MIN);
            } catch (DateTimeParseException _) {
                throw new UsageException("--now: found '" + text + "', expected a date such as 2026-11-26");
            }
        }

        private ChatTemplate withTokens(ChatTemplate opened) {
            Map<String, String> all = new LinkedHashMap<>(opened.specialTokens().isEmpty() ? USUAL_TOKENS
                    : opened.specialTokens());
            all.putAll(tokens);
            return opened.withSpecialTokens(all);
        }

        private static Map<String, @Nullable Object> read(Path file) throws IOException {
            Object read;
            try {
                read = Json.parse(RegularFile.readAllBytes(file));
            } catch (JsonException e) {
                throw new BadInputException(file + ": " + e.getMessage(), e);
            }
            List<@Nullable Object> list = read instanceof Map<?, ?> map && map.get("messages") instanceof List
                    ? List.of(map) : read instanceof List<?> several ? new ArrayList<>(several) : List.of();
            Map<String, @Nullable Object> named = new LinkedHashMap<>();
            for (int i = 0; i < list.size(); i++) {
                named.put(Integer.toString(i), list.get(i));
            }
            return named.isEmpty() && !(read instanceof List) ? Json.object(read) : named;
        }

        private static Map<String, @Nullable Object> rendered(ChatTemplate template, String name,
                @Nullable Object conversation, ChatTemplate.Options options) {
            if (!(conversation instanceof Map<?, ?>)) {
                return Json.members("name", name, "error", "found " + Json.shown(conversation)
                        + ", expected an object with 'messages'");
            }
            try {
                ChatTemplate.Rendered rendered = template.render(Json.object(conversation), options);
                List<List<Integer>> spans = rendered.assistantCodePoints().stream()
                        .map(span -> List.of(span.start(), span.end())).toList();
                return Json.members("name", name, "text", rendered.text(), "assistant_spans", spans);
            } catch (ChatTemplateException e) {
                return Json.members("name", name, "error", e.getMessage());
            }
        }
    }
}
