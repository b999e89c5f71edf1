// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code chat}. */
class ChatCommandTest {

    private static final String CHAT = "{\"messages\": [{\"role\": \"user\", \"content\": \"\uD83D\uDE00\"},"
            + " {\"role\": \"assistant\", \"content\": \"b\"}]}";

    @TempDir
    private Path folder;

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private static void assertPrints(String expected, Object... args) {
        CommandRun run = CommandRun.of(args);
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(expected, run.out());
    }

    @Test
    void aLineHasTheTextAndTheSpansInCodePointsOrTheError() throws IOException {
        Path chats = write("chats.json", "{\"x\": " + CHAT + ", \"y\": {\"messages\": [1]}, \"z\": 7}");
        assertPrints("{\"name\":\"x\",\"text\":\"<|user|>\\n\uD83D\uDE00<|end|>\\n<|assistant|>\\nb<|end|>\\n\","
                + "\"assistant_spans\":[[32,40]]}\n"
                + "{\"name\":\"y\",\"error\":\"line 3, column 5: an int has no member 'role'\"}\n"
                + "{\"name\":\"z\",\"error\":\"found 7, expected an object with 'messages'\"}\n",
                "chat", "render", "phi3", chats);
    }

    @Test
    void conversationsAreOneOrAnArrayToo() throws IOException {
        Path template = write("t.jinja", "{{ messages|length }}{{ bos_token }}{{ strftime_now('%Y') }}");
        String line = "{\"name\":\"0\",\"text\":\"2<s>2031\",\"assistant_spans\":[]}\n";
        assertPrints(line, "chat", "render", template, write("one.json", CHAT), "--now", "2031-02-03");
        assertPrints(line, "chat", "render", template, write("array.json", "[" + CHAT + "]"), "--now",
                "2031-02-03T04:05");
        assertPrints("", "chat", "render", template, write("none.json", "[]"));
    }

    @Test
    void tokensAreThoseOfTheModelOrTheOption() throws IOException {
        write("tokenizer_config.json", "{\"chat_template\": \"{{ bos_token }}{{ eos_token }}\", \"bos_token\": \"B\"}");
        Path chats = write("chats.json", "[" + CHAT + "]");
        assertPrints("{\"name\":\"0\",\"text\":\"B\",\"assistant_spans\":[]}\n", "chat", "render", folder, chats);
        assertPrints("{\"name\":\"0\",\"text\":\"BE\",\"assistant_spans\":[]}\n", "chat", "render", folder, chats,
                "--token", "eos_token=E");
    }

    @Test
    void aTemplateThatIsRefusedIsAnErrorOfEachConversationAndOfTheCommand() throws IOException {
        Path template = write("t.jinja", "a\n{% include 'b' %}");
        CommandRun run = CommandRun.of("chat", "render", template, write("chats.json", "{\"x\": " + CHAT + "}"));
        assertEquals(3, run.exitCode());
        String problem = template + ": line 2, column 4: the tag 'include' is not supported here";
        assertEquals("{\"name\":\"x\",\"error\":\"" + problem + "\"}\n", run.out());
        assertEquals("penstock: " + problem + "\n", run.err());
    }

    @Test
    void wrongInputAndWrongUsageAreTold() throws IOException {
        Path chats = write("chats.json", "{]");
        CommandRun malformed = CommandRun.of("chat", "render", "chatml", chats);
        assertEquals(3, malformed.exitCode());
        assertTrue(malformed.err().startsWith("penstock: " + chats + ": "), malformed.err());
        CommandRun unknown = CommandRun.of("chat", "render", "llama9", write("one.json", CHAT));
        assertEquals(3, unknown.exitCode());
        assertTrue(unknown.err().contains("llama9: no such file, and found the chat template"), unknown.err());
        CommandRun date = CommandRun.of("chat", "render", "chatml", folder.resolve("one.json"), "--now", "soon");
        assertEquals(2, date.exitCode());
        assertEquals(2, CommandRun.of("chat").exitCode());
    }
}
