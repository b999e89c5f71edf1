// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where a model keeps its template and special tokens. */
class TemplateFilesTest {

    private static final String TOKENS = "\"bos_token\": \"<b>\","
            + " \"eos_token\": {\"content\": \"<e>\", \"lstrip\": false},"
            + " \"pad_token\": null, \"add_bos_token\": true, \"extra_special_tokens\": {\"image_token\": \"<i>\"}";

    @TempDir
    private Path folder;

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private static String text(ChatTemplate template, Object tools) {
        Map<String, Object> chat = new HashMap<>(Map.of("messages", List.of()));
        chat.put("tools", tools);
        return template.render(chat).text();
    }

    @Test
    void aConfigHasTheTemplateAndTheTokens() throws IOException {
        Path config = write("tokenizer_config.json", "{" + TOKENS + ", \"chat_template\":"
                + " \"{{ bos_token }}{{ eos_token }}{{ image_token }}{{ pad_token is defined }}\"}");
        for (Path path : List.of(config, folder)) {
            ChatTemplate template = ChatTemplate.of(path);
            assertEquals("<b><e><i>False", text(template, null));
            assertEquals(Map.of("bos_token", "<b>", "eos_token", "<e>", "image_token", "<i>"),
                    template.specialTokens());
        }
    }

    @Test
    void aTemplateBesideTheConfigComesFirstAndHasItsTokens() throws IOException {
        write("tokenizer_config.json", "{" + TOKENS + ", \"chat_template\": \"old\"}");
        Path file = write("chat_template.jinja", "{{ bos_token }}new\n");
        assertEquals("<b>new", text(ChatTemplate.of(folder), null));
        assertEquals("<b>new", text(ChatTemplate.of(file), null));
        assertEquals("old", text(ChatTemplate.of(folder.resolve("tokenizer_config.json")), null));
        Files.delete(folder.resolve("tokenizer_config.json"));
        assertEquals("new", text(ChatTemplate.of(folder), null));
    }

    @Test
    void ofSeveralTemplatesOneIsForConversationsWithTools() throws IOException {
        write("tokenizer_config.json", "{\"chat_template\": [{\"name\": \"default\", \"template\": \"plain\"},"
                + " {\"name\": \"tool_use\", \"template\": \"tools {{ tools|length }}\"}]}");
        ChatTemplate template = ChatTemplate.of(folder);
        assertEquals("plain", text(template, null));
        assertEquals("tools 2", text(template, List.of(1L, 2L)));
    }

    @Test
    void anyOtherFileIsATemplateWithoutTokens() throws IOException {
        write("tokenizer_config.json", "{" + TOKENS + "}");
        assertEquals("x", text(ChatTemplate.of(write("my.txt", "\uFEFFx{{ bos_token }}")), null));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '#', value = {
        "{}                                                 # no chat template, expected one",
        "{\"chat_template\": [{\"name\": \"rag\", \"template\": \"\"}]} # the chat templates [rag], expected one",
        "[1]                                                # an object",
        "{\"chat_template\": \"{{ x\"}                      # line 1, column 1: the tag has no end",
    })
    void aConfigWithoutATemplateIsRefusedByName(String config, String problems) throws IOException {
        Path file = write("tokenizer_config.json", config);
        Exception e = assertThrows(Exception.class, () -> ChatTemplate.of(file));
        assertTrue(e.getMessage().startsWith(file + ": "), e.getMessage());
        assertTrue(Arrays.stream(problems.split("[|]")).anyMatch(e.getMessage()::contains), e.getMessage());
    }

    @Test
    void whatIsNotThereIsNoTemplate() throws IOException {
        assertThrows(NoSuchFileException.class, () -> ChatTemplate.of(folder));
        assertThrows(NoSuchFileException.class, () -> ChatTemplate.of(folder.resolve("chat_template.jinja")));
        Path bytes = Files.write(folder.resolve("x.jinja"), new byte[] {(byte) 0xFF, 'a'});
        assertTrue(assertThrows(MalformedStoreException.class, () -> ChatTemplate.of(bytes)).getMessage()
                .contains("no UTF-8"));
    }
}
