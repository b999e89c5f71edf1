// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Writes conversations to train on, always the same: {@code sums.jsonl}, in which a second question needs the first
 * answer, and {@code order.jsonl}, in which words are sorted. Beside them it writes the chat template.
 *
 * <p>Needs the JDK alone: {@code java Chats.java FOLDER}.
 */
final class Chats {

    /** What the assistant says, and the token that ends it, is trained on. */
    static final String TEMPLATE = "{% for message in messages %}{{ message.role }}: "
            + "{% if message.role == 'assistant' %}"
            + "{% generation %}{{ message.content }}<|endoftext|>{% endgeneration %}"
            + "{% else %}{{ message.content }}{% endif %}{{ '\\n' }}{% endfor %}"
            + "{% if add_generation_prompt %}assistant: {% endif %}";

    private static final int CONVERSATIONS = 600;
    private static final List<String> WORDS = List.of("apple", "bridge", "castle", "door", "engine", "forest", "garden",
            "harbour");

    private Chats() {
    }

    /** Writes the files into a folder, which is made. */
    public static void main(String[] args) throws IOException {
        write(Path.of(args[0]));
    }

    static void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        SplittableRandom random = new SplittableRandom(1);
        List<String> sums = new ArrayList<>();
        List<String> order = new ArrayList<>();
        for (int i = 0; i < CONVERSATIONS; i++) {
            int a = random.nextInt(50);
            int b = random.nextInt(50);
            sums.add(conversation("What is " + a + " plus " + b + "?", "It is " + (a + b) + ".",
                    "And one more than that?", "That is " + (a + b + 1) + "."));
            String[] words = random.ints(3, 0, WORDS.size()).mapToObj(WORDS::get).toArray(String[]::new);
            String[] sorted = words.clone();
            Arrays.sort(sorted);
            order.add(conversation("Sort " + String.join(", ", words) + ".", String.join(", ", sorted) + "."));
        }
        Files.write(folder.resolve("sums.jsonl"), sums);
        Files.write(folder.resolve("order.jsonl"), order);
        Files.writeString(folder.resolve("chat_template.jinja"), TEMPLATE);
    }

    private static String conversation(String... texts) {
        StringBuilder json = new StringBuilder("{\"messages\": [");
        for (int i = 0; i < texts.length; i++) {
            json.append(i == 0 ? "" : ", ").append("{\"role\": \"").append(i % 2 == 0 ? "user" : "assistant")
                    .append("\", \"content\": \"").append(texts[i]).append("\"}");
        }
        return json.append("]}").toString();
    }
}
