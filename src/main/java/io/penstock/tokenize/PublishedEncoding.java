package io.penstock.tokenize;

import java.util.List;
import java.util.stream.Stream;

/**
 * The encodings that OpenAI published with tiktoken, with vocabulary sizes and special ids from
 * {@code tiktoken_ext/openai_public.py}.
 */
enum PublishedEncoding {
    GPT2("gpt2", "r50k_base", 50_257, 50_256),
    R50K_BASE("r50k_base", "r50k_base", 50_257, 50_256),
    P50K_BASE("p50k_base", "p50k_base", 50_281, 50_256),
    P50K_EDIT("p50k_edit", "p50k_edit", 50_284, 50_256),
    CL100K_BASE("cl100k_base", "cl100k_base", 100_277, 100_257),
    O200K_BASE("o200k_base", "o200k_base", 200_019, 199_999);

    final String id;
    /** The name in jtokkit. */
    final String libraryName;
    final int vocabularySize;
    final int endOfText;

    PublishedEncoding(String id, String libraryName, int vocabularySize, int endOfText) {
        this.id = id;
        this.libraryName = libraryName;
        this.vocabularySize = vocabularySize;
        this.endOfText = endOfText;
    }

    static PublishedEncoding of(String id) {
        return Stream.of(values()).filter(encoding -> encoding.id.equals(id)).findAny().orElseThrow(() ->
                new IllegalArgumentException("unknown encoding '" + id + "', expected one of "
                        + String.join(", ", names())));
    }

    static List<String> names() {
        return Stream.of(values()).map(encoding -> encoding.id).toList();
    }
}
