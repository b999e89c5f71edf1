// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The tokenizer. */
final class TokenizerOptions {

    @Option(names = {"--encoding", "--tokenizer"}, paramLabel = "NAME",
            description = "gpt2 (default), r50k_base, p50k_base, p50k_edit, cl100k_base or o200k_base.")
    private String encoding = "gpt2";

    @Option(names = "--vocabulary", paramLabel = "FILE",
            description = "tokenizer.json of a model of Hugging Face, or a .tiktoken file with the vocabulary of"
                    + " --encoding.")
    private @Nullable Path vocabulary;

    @Option(names = "--end-of-text", paramLabel = "TOKEN",
            description = "Special token of the tokenizer.json that ends a document; default: <|endoftext|>,"
                    + " <|end_of_text|> or </s>.")
    private @Nullable String endOfText;

    Tokenizer open() throws IOException {
        Path file = vocabulary;
        boolean isJson = file != null && String.valueOf(file.getFileName()).endsWith(".json");
        if (endOfText != null && !isJson) {
            throw new UsageException("--end-of-text needs --vocabulary with a tokenizer.json");
        }
        try {
            if (file == null) {
                return Tokenizer.of(encoding);
            }
            return !isJson ? Tokenizer.of(encoding, file) : endOfText == null ? Tokenizer.of(file)
                    : Tokenizer.of(file, endOfText);
        } catch (IllegalArgumentException e) {
            throw new UsageException((isJson ? "--vocabulary: " : "--encoding: ") + e.getMessage(), e);
        }
    }
}
