// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.chat.ChatTemplate;
import io.penstock.chat.ChatTemplateException;
import io.penstock.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Chat templates: whatever the text, opening and rendering end, with a text or with a message that says where. */
final class ChatTemplateFuzz implements FuzzTarget {

    static final ChatTemplateFuzz TARGET = new ChatTemplateFuzz();

    private static final Path TEMPLATES = Path.of("tools/src/test/resources/io/penstock/chat");
    private static final ChatTemplate.Options OPTIONS = new ChatTemplate.Options(Map.of("n", 3L, "x", "a<b>é"),
            LocalDateTime.of(2026, 11, 6, 3, 5), new ChatTemplate.Limits(1 << 16, 20_000, 20));
    private static final Map<String, Object> CHAT = Json.object(Json.parse("""
            {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi <think>"},
             {"role": "assistant", "content": "a</think>b", "tool_calls": [{"function": {"name": "f",
              "arguments": {"k": [1, 2.5, null, "é"]}}}]}, {"role": "tool", "content": [{"type": "text", "text": "t"}]},
             {"role": "assistant", "content": "end"}],
             "tools": [{"function": {"name": "f", "parameters": {"type": "object", "properties": {"k": {}}}}}]}"""));

    private ChatTemplateFuzz() {
    }

    @Override
    public int maxBytes() {
        return 16 << 10;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        List<byte[]> seeds = new ArrayList<>();
        try (Stream<Path> files = Files.list(TEMPLATES)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".jinja")).sorted().toList()) {
                seeds.add(Files.readAllBytes(file));
            }
        }
        seeds.add(("{{ '%s %d' % (x, n) }}{{ '{} {!r}'.format(x, n) }}{{ x|safe + '<' }}{{ [3, 1]|sort|join(',') }}"
                + "{{ x[::-1].split('b', 1)|tojson(indent=1) }}{{ 7 // -2 ** n }}{{ {'a': x}|dictsort }}"
                + "{{ -1.5e3|round(1) }}")
                .getBytes(StandardCharsets.UTF_8));
        return seeds;
    }

    @Override
    public void run(byte[] input, Path folder) {
        render(new String(input, StandardCharsets.UTF_8));
    }

    /** Opens and renders a template, twice; tells whether it gave a text. */
    static boolean render(String text) {
        String rendered = once(text);
        if (!rendered.equals(once(text))) {
            throw new AssertionError("found another text at the second time");
        }
        return !rendered.startsWith("error: ");
    }

    private static String once(String text) {
        try {
            return "text: " + ChatTemplate.parse(text).render(CHAT, OPTIONS);
        } catch (ChatTemplateException e) {
            StoreOracle.requireOneLine(e.getMessage());
            if (!e.getMessage().matches("line [0-9]+, column [0-9]+: .*")) {
                throw new AssertionError(e.getMessage());
            }
            return "error: " + e.getMessage();
        }
    }
}
