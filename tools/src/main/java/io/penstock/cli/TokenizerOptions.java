// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that choose a tokenizer, and the tokenizer that they choose. */
final class TokenizerOptions {

    @Option(names = {"--encoding", "--tokenizer"}, paramLabel = "NAME",
            description = "gpt2 (default), r50k_base, p50k_base, p50k_edit, cl100k_base or o200k_base.")
    private @Nullable String encoding;

    @Option(names = "--vocabulary", paramLabel = "FILE",
            description = "tokenizer.json of a model of Hugging Face, or a .tiktoken file with the vocabulary of"
                    + " --encoding.")
    private @Nullable Path vocabulary;

    @Option(names = "--end-of-text", paramLabel = "TOKEN",
            description = "Special token of the tokenizer.json that ends a document; default: <|endoftext|>,"
                    + " <|end_of_text|> or </s>.")
    private @Nullable String endOfText;

    /** Whether no tokenizer is named. */
    boolean isDefault() {
        return encoding == null && vocabulary == null;
    }

    Tokenizer open() throws IOException {
        Path file = vocabulary;
        String name = encoding == null ? "gpt2" : encoding;
        boolean isJson = file != null && String.valueOf(file.getFileName()).endsWith(".json");
        if (endOfText != null && !isJson) {
            throw new UsageException("--end-of-text needs --vocabulary with a tokenizer.json");
        }
        try {
            if (file == null) {
                return Tokenizer.of(name);
            }
            return !isJson ? Tokenizer.of(name, file) : endOfText == null ? Tokenizer.of(file)
                    : Tokenizer.of(file, endOfText);
        } catch (IllegalArgumentException e) {
            throw new UsageException((isJson ? "--vocabulary: " : "--encoding: ") + e.getMessage(), e);
        }
    }
}
