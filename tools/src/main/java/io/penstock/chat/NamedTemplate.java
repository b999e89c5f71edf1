// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.NullMarked;

/** The templates that are kept here, as resources named {@code NAME.jinja}, with the special tokens of their models. */
@NullMarked
final class NamedTemplate {

    private static final Map<String, Map<String, String>> TOKENS = new TreeMap<>(Map.of(
            "alpaca", tokens("<s>", "</s>"),
            "chatml", tokens("<|endoftext|>", "<|im_end|>"),
            "gemma", tokens("<bos>", "<eos>"),
            "llama2", tokens("<s>", "</s>"),
            "llama3", tokens("<|begin_of_text|>", "<|eot_id|>"),
            "mistral", tokens("<s>", "</s>"),
            "phi3", tokens("<s>", "<|endoftext|>"),
            "vicuna", tokens("<s>", "</s>"),
            "zephyr", tokens("<s>", "</s>")));

    private NamedTemplate() {
    }

    private static Map<String, String> tokens(String begin, String end) {
        return Map.of("bos_token", begin, "eos_token", end);
    }

    static Map<String, String> specialTokens(String name) {
        Map<String, String> tokens = TOKENS.get(name);
        if (tokens == null) {
            throw new IllegalArgumentException("found the chat template '" + name + "', expected one of "
                    + TOKENS.keySet());
        }
        return tokens;
    }

    static String text(String name) {
        specialTokens(name);
        try (InputStream in = NamedTemplate.class.getResourceAsStream(name + ".jinja")) {
            if (in == null) {
                throw new IllegalStateException("the resource " + name + ".jinja is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
