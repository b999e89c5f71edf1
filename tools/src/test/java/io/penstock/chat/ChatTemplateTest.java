// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.chat.ChatTemplate.AssistantSpan;
import io.penstock.chat.ChatTemplate.Limits;
import io.penstock.chat.ChatTemplate.Options;
import io.penstock.chat.ChatTemplate.Rendered;
import io.penstock.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What templates render, against what jinja2 renders in the environment of transformers: {@code
 * tools/src/test/python/chat_templates.py} made the expected values.
 */
class ChatTemplateTest {

    static final Path FOLDER = Path.of("tools/src/test/resources/io/penstock/chat");
    private static final Map<String, String> TOKENS = Map.of("bos_token", "<s>", "eos_token", "</s>");
    private static final Options OPTIONS = Options.DEFAULT.at(LocalDateTime.of(2026, 11, 6, 3, 5, 9));

    private static List<Map<String, Object>> lines(String name) throws IOException {
        try (Stream<String> lines = Files.lines(FOLDER.resolve(name))) {
            return lines.filter(line -> !line.startsWith("[")).map(line -> Json.object(Json.parse(line))).toList();
        }
    }

    private static Rendered render(String template, Map<String, Object> variables) {
        return ChatTemplate.parse(template).withSpecialTokens(TOKENS)
                .render(Map.of("messages", List.of(), "kwargs", variables), OPTIONS);
    }

    private static String text(String template) {
        return render(template, Map.of()).text();
    }

    static Stream<String> templates() throws IOException {
        return lines("renderings.jsonl").stream().map(line -> (String) line.get("template")).distinct();
    }

    @ParameterizedTest
    @MethodSource("templates")
    void rendersConversationsAsTransformersDoes(String name) throws IOException {
        Map<String, Object> conversations = Json.object(Json.parse(Files.readString(
                FOLDER.resolve("conversations.json"))));
        int rendered = 0;
        for (Map<String, Object> line : lines("renderings.jsonl")) {
            if (line.get("template").equals(name)) {
                ChatTemplate template = line.get("named").equals(true) ? ChatTemplate.named(name)
                        : ChatTemplate.of(FOLDER.resolve(name + ".jinja"));
                Map<String, Object> chat = Json.object(conversations.get((String) line.get("conversation")));
                compare(name + " " + line.get("conversation"), line, template.withSpecialTokens(TOKENS), chat);
                rendered++;
            }
        }
        assertEquals(conversations.size(), rendered);
    }

    private static void compare(String what, Map<String, Object> expected, ChatTemplate template,
            Map<String, Object> chat) {
        if (expected.containsKey("error")) {
            assertThrows(ChatTemplateException.class, () -> template.render(chat, OPTIONS), what);
            return;
        }
        Rendered rendered = template.render(chat, OPTIONS);
        assertEquals(expected.get("text"), rendered.text(), what);
        assertEquals(Json.write(expected.get("spans")), Json.write(rendered.assistantCodePoints().stream()
                .map(span -> List.of(span.start(), span.end())).toList()), what);
    }

    @Test
    void rendersEveryRuleOfTheLanguageAsJinjaDoes() throws IOException {
        List<Object> values;
        try (Stream<String> first = Files.lines(FOLDER.resolve("rules.jsonl"))) {
            values = Json.array(Json.parse(first.findFirst().orElseThrow()));
        }
        List<String> wrong = new ArrayList<>();
        int compared = 0;
        for (Map<String, Object> rule : lines("rules.jsonl")) {
            if (!rule.containsKey("results")) {
                compared++;
                addDifference(wrong, rule, Map.of("s", "a"), (String) rule.get("text"));
                continue;
            }
            List<Object> names = Json.array(rule.get("names"));
            for (Object result : Json.array(rule.get("results"))) {
                List<Object> row = Json.array(result);
                Map<String, Object> variables = new HashMap<>();
                for (int i = 0; i < names.size(); i++) {
                    variables.put((String) names.get(i), values.get(((Long) row.get(i)).intValue()));
                }
                compared++;
                addDifference(wrong, rule, variables, (String) row.getLast());
            }
        }
        assertTrue(compared > 10_000, compared + " results");
        assertEquals(List.of(), wrong);
    }

    private static void addDifference(List<String> wrong, Map<String, Object> rule, Map<String, Object> variables,
            String expected) {
        String template = (String) rule.get("template");
        String found;
        List<AssistantSpan> spans = List.of();
        try {
            Rendered rendered = render(template, variables);
            found = rendered.text();
            spans = rendered.assistantCodePoints();
        } catch (ChatTemplateException e) {
            found = null;
            assertTrue(e.getMessage().matches("line [0-9]+, column [0-9]+: .+"), e.getMessage());
        }
        String marked = Json.write(spans.stream().map(span -> List.of(span.start(), span.end())).toList());
        boolean isMarked = expected == null || !rule.containsKey("spans")
                || Json.write(rule.get("spans")).equals(marked);
        if (!Objects.equals(expected, found) || !isMarked) {
            wrong.add(template + " of " + variables + ": found " + found + " " + marked + ", expected " + expected);
        }
    }

    @Test
    void aSpanIsInCharsAndInCodePoints() {
        Rendered rendered = render("\uD83D\uDE00{% generation %}a\uD83D\uDE00{% endgeneration %}", Map.of());
        assertEquals(List.of(new AssistantSpan(2, 5)), rendered.assistant());
        assertEquals(List.of(new AssistantSpan(1, 3)), rendered.assistantCodePoints());
        assertTrue(ChatTemplate.named("chatml").marksAssistant());
        assertFalse(ChatTemplate.parse("a").marksAssistant());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '#', value = {
        "a{% include 'x' %}            # line 1, column 5: the tag 'include' is not supported here",
        "{% extends 'x' %}             # line 1, column 4: the tag 'extends' is not supported here",
        "{% block x %}{% endblock %}   # line 1, column 4: the tag 'block' is not supported here",
        "{% do x %}                    # line 1, column 4: the tag 'do' is not supported here",
        "{{ x|urlize }}                # line 1, column 6: the filter 'urlize' is not supported",
        "{{ x|map('pprint') }}         # line 1, column 6: 'pprint' of 'map' is not supported",
        "{{ x|selectattr('a', 'q') }}  # line 1, column 6: 'q' of 'selectattr' is not supported",
        "{{ x is filter }}             # line 1, column 9: the test 'filter' is not supported",
        "{{ x.encode('a') }}           # line 1, column 12: the method 'encode' is not supported",
        "{{ lipsum() }}                # line 1, column 4: 'lipsum' is not supported",
        "{% for x in y recursive %}    # line 1, column 15: a recursive loop is not supported",
        "{{ 'a }}                      # line 1, column 4: the string has no end",
        "{% if x %}                    # found the end of the template, expected one of the tags [elif, else, endif]",
        "{{ x + }}                     # line 1, column 8: found '}}', expected an expression",
        "{% break %}                   # line 1, column 4: 'break' is outside of a loop",
    })
    void whatIsNotSupportedIsRefusedByNameWhenTheTemplateIsOpened(String template, String problem) {
        ChatTemplateException e = assertThrows(ChatTemplateException.class, () -> ChatTemplate.parse(template));
        assertTrue(e.getMessage().contains(problem), e.getMessage());
    }

    @Test
    void anErrorSaysWhereInTheTemplate() {
        String template = "{% for m in messages %}\n  {{ m.content + 1 }}\n{% endfor %}";
        ChatTemplateException e = assertThrows(ChatTemplateException.class, () -> ChatTemplate.parse(template)
                .render(Map.of("messages", List.of(Map.of("content", "a")))));
        assertEquals("line 2, column 3: cannot apply '+' to a string and an int", e.getMessage());
        e = assertThrows(ChatTemplateException.class, () -> text("{{ raise_exception('roles\nmust alternate') }}"));
        assertEquals("line 1, column 19: the template refuses the conversation: roles\\nmust alternate",
                e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% set n = namespace(s='ab') %}{% for a in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
        "{% set n = namespace(s=[1]) %}{% for a in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
        "{% set n = namespace(s=[1]) %}{% for a in range(9999) %}{% set n.s = [n.s] %}{% endfor %}{{ n.s }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for a in range(9999) %}{{ 'x' * 9999 }}{% endfor %}",
        "{{ 'x' * 99999999999 }}", "{{ [1] * 99999999 }}", "{{ 9 ** 99999 }}", "{{ 10 ** 999 * 10 ** 999 }}",
        "{{ range(100001) }}", "{{ ('x' * 99999).replace('', 'y' * 99999) }}", "{{ '%999999999d' % 1 }}",
        "{{ ['x' * 9999]|tojson(indent=999)|length * 0 + ('x' * 9999).join('y' * 99999)|length }}",
        "{% for a in 'x' * 99999 %}{{ ('y' * 99999) in ('y' * 99998) }}{% endfor %}",
    })
    void aTemplateThatNeedsTooMuchIsStopped(String template) {
        Options bounded = new Options(Map.of(), null, new Limits(1_000_000, 100_000, 50));
        ChatTemplate opened = ChatTemplate.parse(template);
        assertThrows(ChatTemplateException.class, () -> opened.render(Map.of("messages", List.of()), bounded));
    }

    @Test
    void whatIsNestedTooDeepIsRefused() {
        for (String open : List.of("(", "[", "-", "not ", "{'a':", "a|f(", "a[", "x if ")) {
            assertThrows(ChatTemplateException.class, () -> ChatTemplate.parse("{{ " + open.repeat(9999)));
        }
        assertThrows(ChatTemplateException.class, () -> ChatTemplate.parse("{% if a %}".repeat(9999)));
    }

    @Test
    void aLongChainOfOperatorsIsNoNesting() {
        assertEquals("1" + "2".repeat(4000), text("{{ '1'" + " + '2'".repeat(4000) + " }}"));
    }

    @Test
    void aTemplateCannotChangeTheConversation() {
        Map<String, Object> chat = Json.object(Json.parse("{\"messages\": [{\"role\": \"user\", \"content\": [1]}]}"));
        String before = Json.write(chat);
        for (String change : List.of("messages.append(1)", "messages[0].update(a=1)", "messages[0].pop('role')",
                "messages[0].content.clear()", "messages[0].setdefault('a', 1)", "messages.sort()")) {
            ChatTemplate template = ChatTemplate.parse("{{ " + change + " }}");
            assertThrows(ChatTemplateException.class, () -> template.render(chat), change);
        }
        assertThrows(ChatTemplateException.class, () -> ChatTemplate.parse("{% set messages.x = 1 %}").render(chat));
        assertEquals("[1]2", ChatTemplate.parse("{% set x = messages[0].content + [2] %}"
                + "{{ messages[0].content }}{{ x[1] }}").render(chat).text());
        assertEquals(before, Json.write(chat));
    }

    @Test
    void variablesOfTheCallComeBeforeThoseOfTheConversationAndThoseBeforeSpecialTokens() {
        ChatTemplate template = ChatTemplate.parse("{{ bos_token }}{{ mode }}{{ add_generation_prompt }}{{ tools }}")
                .withSpecialTokens(Map.of("bos_token", "B"));
        Map<String, Object> chat = Map.of("messages", List.of(), "chat_template_kwargs", Map.of("mode", "chat"));
        assertEquals("BchatFalseNone", template.render(chat).text());
        assertEquals("QcallTrueNone", template.render(chat, Options.DEFAULT.with("bos_token", "Q").with("mode", "call")
                .with("add_generation_prompt", true)).text());
        assertEquals("BFalseNone", template.render(Map.of("messages", List.of())).text());
        assertEquals("8", ChatTemplate.parse("{{ mode + 1 }}").render(chat, Options.DEFAULT.with("mode", 7)).text());
    }

    @Test
    void aConversationIsOfAnyMapsAndLists() {
        ChatTemplate template = ChatTemplate.parse("{% for m in messages %}{{ m[none] }}{{ m[1] }}{{ none in m }}"
                + "{{ m.get(none) }}{{ m == {'a': 1} }}{{ m == {2: 1} }};{% endfor %}");
        assertEquals("FalseNoneTrueFalse;".repeat(2), template.render(Map.of("messages",
                List.of(Map.of("a", 1L), new TreeMap<>(Map.of("a", 1L))))).text());
    }

    @Test
    void threadsRenderTheSameTemplateAtOnce() {
        ChatTemplate template = ChatTemplate.named("llama3");
        List<String> texts = IntStream.range(0, 2000).parallel().mapToObj(i -> template.render(Map.of("messages",
                List.of(Map.of("role", "user", "content", "number " + i % 7)))).text()).distinct().toList();
        assertEquals(7, texts.size());
        assertEquals(7, texts.stream().filter(text -> text.matches("(?s)<.begin_of_text.>.*number [0-6]<.eot_id.>"))
                .count());
    }

    @Test
    void anUnknownNameIsRefusedWithTheNamesThatThereAre() {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> ChatTemplate.named("llama9"));
        assertTrue(e.getMessage().contains("'llama9', expected one of [alpaca, chatml, gemma, llama2"), e.getMessage());
    }
}
