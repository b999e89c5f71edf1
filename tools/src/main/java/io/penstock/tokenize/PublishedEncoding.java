// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The encodings that OpenAI published with tiktoken, with special tokens from {@code tiktoken_ext/openai_public.py}.
 * The files with the ranks are in the jtokkit library.
 */
enum PublishedEncoding {
    GPT2("gpt2", "r50k_base", TextSplit.GPT2, Map.of(PublishedEncoding.END_OF_TEXT, 50_256)),
    R50K_BASE("r50k_base", "r50k_base", TextSplit.GPT2, Map.of(PublishedEncoding.END_OF_TEXT, 50_256)),
    P50K_BASE("p50k_base", "p50k_base", TextSplit.GPT2, Map.of(PublishedEncoding.END_OF_TEXT, 50_256)),
    P50K_EDIT("p50k_edit", "p50k_base", TextSplit.GPT2, Map.of(PublishedEncoding.END_OF_TEXT, 50_256,
            "<|fim_prefix|>", 50_281, "<|fim_middle|>", 50_282, "<|fim_suffix|>", 50_283)),
    CL100K_BASE("cl100k_base", "cl100k_base", TextSplit.CL100K, Map.of(PublishedEncoding.END_OF_TEXT, 100_257,
            "<|fim_prefix|>", 100_258, "<|fim_middle|>", 100_259, "<|fim_suffix|>", 100_260,
            "<|endofprompt|>", 100_276)),
    O200K_BASE("o200k_base", "o200k_base", TextSplit.O200K, Map.of(PublishedEncoding.END_OF_TEXT, 199_999,
            "<|endofprompt|>", 200_018));

    private static final String END_OF_TEXT = "<|endoftext|>";

    private final String id;
    /** The name of the file with the ranks. */
    private final String ranks;
    private final TextSplit split;
    private final Map<String, Integer> specialTokens;

    PublishedEncoding(String id, String ranks, TextSplit split, Map<String, Integer> specialTokens) {
        this.id = id;
        this.ranks = ranks;
        this.split = split;
        this.specialTokens = specialTokens;
    }

    static PublishedEncoding of(String id) {
        return Stream.of(values()).filter(encoding -> encoding.id.equals(id)).findAny().orElseThrow(() ->
                new IllegalArgumentException("unknown encoding '" + id + "', expected one of "
                        + String.join(", ", names())));
    }

    static List<String> names() {
        return Stream.of(values()).map(encoding -> encoding.id).toList();
    }

    /** Reads the vocabulary from the library. */
    Tokenizer tokenizer() {
        String resource = "com/knuddels/jtokkit/" + ranks + ".tiktoken";
        try (InputStream in = PublishedEncoding.class.getClassLoader().getResourceAsStream(resource)) {
            if (in == null) {
                throw new UnsupportedOperationException(
                        "tokenizing needs the library com.knuddels:jtokkit on the class path");
            }
            return tokenizer(Vocabulary.readPublished(in, resource));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads the vocabulary from a stream. */
    Tokenizer tokenizer(InputStream in, String name) throws IOException {
        return tokenizer(Vocabulary.read(in, name));
    }

    private Tokenizer tokenizer(Vocabulary vocabulary) {
        return BytePairTokenizer.of(id, vocabulary, split, specialTokens, END_OF_TEXT);
    }
}
