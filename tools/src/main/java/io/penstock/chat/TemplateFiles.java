// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.local.RegularFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.text.Utf8;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * The files in which Hugging Face's tokenizers keep their chat templates and special tokens. {@code
 * chat_template.jinja} comes before what {@code tokenizer_config.json} has, as in transformers.
 */
@NullMarked
record TemplateFiles(Path path, Map<String, String> templates, Map<String, String> specialTokens) {

    private static final String CONFIG = "tokenizer_config.json";
    private static final String TEMPLATE = "chat_template.jinja";
    private static final String DEFAULT = "default";

    static TemplateFiles read(Path path) throws IOException {
        boolean isFolder = Files.isDirectory(path);
        Path fileName = path.getFileName();
        String name = fileName == null ? "" : fileName.toString();
        Path config = isFolder ? path.resolve(CONFIG) : name.endsWith(".json") ? path : path.resolveSibling(CONFIG);
        Path template = isFolder ? path.resolve(TEMPLATE) : name.endsWith(".json") ? null : path;
        TemplateFiles files = new TemplateFiles(path, new LinkedHashMap<>(), new LinkedHashMap<>());
        boolean isNeeded = config.equals(path);
        if (isNeeded || (isFolder || name.equals(TEMPLATE)) && Files.exists(config)) {
            files.readConfig(config);
        }
        if (template != null && (!isFolder || Files.exists(template))) {
            files.templates.put(DEFAULT, text(template));
        }
        if (!files.templates.containsKey(DEFAULT)) {
            if (files.templates.isEmpty() && isFolder && !Files.exists(config)) {
                throw new NoSuchFileException(config.toString(), null, "no such file, and no " + TEMPLATE);
            }
            throw new MalformedStoreException(path, files.templates.isEmpty() ? "no chat template"
                    : "the chat templates " + files.templates.keySet(), "one, or one named '" + DEFAULT + "'");
        }
        return files;
    }

    /** The template for conversations without tools, or for all. */
    String main() {
        return templates.getOrDefault(DEFAULT, "");
    }

    private static String text(Path file) throws IOException {
        byte[] bytes = RegularFile.readAllBytes(file);
        int mark = Utf8.markBytes(bytes, 0, bytes.length);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, mark, bytes.length - mark))
                    .toString();
        } catch (CharacterCodingException _) {
            throw new MalformedStoreException(file, "bytes that are no UTF-8", "the text of a template");
        }
    }

    private void readConfig(Path file) throws IOException {
        Map<String, @Nullable Object> config;
        try {
            config = Json.object(Json.parse(RegularFile.readAllBytes(file)));
        } catch (JsonException e) {
            throw new MalformedStoreException(file, e);
        }
        config.forEach((name, value) -> {
            if (name.endsWith("_token")) {
                addToken(name, value);
            }
        });
        for (String named : new String[] {"extra_special_tokens", "model_specific_special_tokens"}) {
            if (config.get(named) instanceof Map<?, ?> tokens) {
                tokens.forEach((name, value) -> addToken(String.valueOf(name), value));
            }
        }
        Object template = config.get("chat_template");
        if (template instanceof String text) {
            templates.put(DEFAULT, text);
        } else if (template instanceof Iterable<?> several) {
            for (Object each : several) {
                if (each instanceof Map<?, ?> one && one.get("name") instanceof String name
                        && one.get("template") instanceof String text) {
                    templates.put(name, text);
                }
            }
        }
    }

    /** A token is a string, or an object with its text as {@code content}. */
    private void addToken(String name, @Nullable Object value) {
        Object text = value instanceof Map<?, ?> token ? token.get("content") : value;
        if (text instanceof String token) {
            specialTokens.put(name, token);
        }
    }
}
