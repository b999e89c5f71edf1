// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.chat.ChatTemplate;
import io.penstock.chat.ChatTokenizer;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The example corpus, or conversations, as two token stores, as {@code run} makes them. */
record Corpus(Path letters, Path books) {

    static Corpus tokenize(Path folder) throws IOException, InterruptedException {
        Path corpus = Files.isDirectory(Path.of("../corpus")) ? Path.of("../corpus") : Path.of("examples/corpus");
        return new Corpus(store(folder.resolve("letters"), List.of(corpus.resolve("letters.jsonl"))),
                store(folder.resolve("books"), List.of(corpus.resolve("almanac.txt"), corpus.resolve("keeper.txt"),
                        corpus.resolve("travels.txt"))));
    }

    /** What {@link Chats} writes. */
    static Corpus chats(Path folder) throws IOException, InterruptedException {
        Chats.write(folder);
        Tokenizer tokenizer = Tokenizer.of("gpt2");
        ChatTokenizer chats = ChatTokenizer.of(ChatTemplate.of(folder.resolve("chat_template.jinja")), tokenizer);
        for (String name : List.of("sums", "order")) {
            new TokenizeJob(tokenizer, List.of(folder.resolve(name + ".jsonl")), folder.resolve(name)).lines(chats)
                    .run();
        }
        return new Corpus(folder.resolve("sums"), folder.resolve("order"));
    }

    private static Path store(Path store, List<Path> texts) throws IOException, InterruptedException {
        new TokenizeJob(Tokenizer.of("gpt2"), texts, store).appendEndOfText().run();
        return store;
    }
}
