// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.megatron.MegatronWriter;
import io.penstock.memory.DType;
import io.penstock.store.TokenContent;
import io.penstock.tokenize.LineEncoder;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A tokenizer that can be sent to executors. A vocabulary in a file is sent with it, so only the driver needs to see
 * the file. Each executor makes the tokenizer once, for all of its tasks. Thread-safe.
 */
public final class TokenizerSource implements Serializable {

    private static final long serialVersionUID = 1;
    private static final String JSON = ".json";

    /** The published encoding; null if the file is a tokenizer.json. */
    private final @Nullable String encoding;
    /** The content of the file; null if there is none. */
    private final byte @Nullable [] vocabulary;
    /** The name of the tokenizer. */
    private final String name;
    /** The token of a tokenizer.json that ends a document; null for the usual one. */
    private final @Nullable String endOfText;
    /** Makes tokens of records with conversations; null if documents are texts. */
    private final @Nullable ChatSource chats;
    private transient @Nullable Tokenizer tokenizer;
    private transient @Nullable String vocabularySha256;

    private TokenizerSource(@Nullable String encoding, byte @Nullable [] vocabulary, String name,
            @Nullable String endOfText, @Nullable ChatSource chats) {
        this.encoding = encoding;
        this.vocabulary = vocabulary;
        this.name = name;
        this.endOfText = endOfText;
        this.chats = chats;
    }

    /** The same for documents that are records with conversations. */
    TokenizerSource with(@Nullable ChatSource conversations) {
        return new TokenizerSource(encoding, vocabulary, name, endOfText, conversations);
    }

    /** What encodes records; null if documents are texts. */
    @Nullable LineEncoder lines() {
        try {
            return chats == null ? null : chats.encoder(tokenizer());
        } catch (IOException e) {
            throw new UncheckedIOException("the chat template: " + e.getMessage(), e);
        }
    }

    /** The dtype of the numbers that parts have. */
    DType dtype() {
        return chats != null ? DType.I32 : MegatronWriter.dtypeFor(tokenizer().vocabularySize());
    }

    /** What the numbers are. */
    TokenContent content() {
        LineEncoder encoder = lines();
        return encoder == null ? TokenContent.TOKENS : encoder.content();
    }

    /**
     * {@return the tokenizer of a published encoding} Its vocabulary is in the library jtokkit, which executors need
     * too.
     *
     * @param encoding one of {@link Tokenizer#encodings}
     * @throws IllegalArgumentException if no encoding has that name
     */
    public static TokenizerSource published(String encoding) {
        if (!Tokenizer.encodings().contains(encoding)) {
            throw new IllegalArgumentException("unknown encoding '" + encoding + "', expected one of "
                    + String.join(", ", Tokenizer.encodings()));
        }
        return new TokenizerSource(encoding, null, encoding, null, null);
    }

    /**
     * {@return the tokenizer of a published encoding, with its vocabulary from a file as tiktoken's}
     *
     * @param encoding one of {@link Tokenizer#encodings}
     * @param ranks the file
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if no encoding has that name
     */
    public static TokenizerSource published(String encoding, Path ranks) throws IOException {
        published(encoding);
        return new TokenizerSource(encoding, Files.readAllBytes(ranks), encoding, null, null);
    }

    /**
     * {@return the tokenizer of a {@code tokenizer.json}, which Hugging Face's models have}
     *
     * @param tokenizerJson the file; its folder and name are the tokenizer's name
     * @throws IOException if the file cannot be read
     */
    public static TokenizerSource of(Path tokenizerJson) throws IOException {
        return json(tokenizerJson, null);
    }

    /**
     * {@return the tokenizer of a {@code tokenizer.json}, as {@link #of(Path)} has it}
     *
     * @param tokenizerJson the file
     * @param endOfText the one of its special tokens that ends a document
     * @throws IOException if the file cannot be read
     */
    public static TokenizerSource of(Path tokenizerJson, String endOfText) throws IOException {
        return json(tokenizerJson, Objects.requireNonNull(endOfText));
    }

    private static TokenizerSource json(Path file, @Nullable String endOfText) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        String parent = folder == null || folder.getFileName() == null ? "" : folder.getFileName() + "/";
        return new TokenizerSource(null, Files.readAllBytes(file), parent + file.getFileName(), endOfText,
                null);
    }

    /** The name that parts have for the tokenizer, whatever the place of its file. */
    String name() {
        return name;
    }

    /** The tokenizer, made by the first call. */
    synchronized Tokenizer tokenizer() {
        Tokenizer made = tokenizer;
        if (made == null) {
            try {
                made = open();
            } catch (IOException e) {
                throw new UncheckedIOException(name + ": " + e.getMessage(), e);
            }
            tokenizer = made;
        }
        return made;
    }

    /** The digest of the tokenizer's vocabulary, computed by the first call. */
    synchronized String vocabularySha256() {
        String computed = vocabularySha256;
        if (computed == null) {
            computed = tokenizer().vocabularySha256();
            vocabularySha256 = computed;
        }
        return computed;
    }

    private Tokenizer open() throws IOException {
        if (vocabulary == null) {
            return Tokenizer.of(Objects.requireNonNull(encoding));
        }
        Path file = Files.createTempFile("penstock-vocabulary", encoding == null ? JSON : ".tiktoken");
        try {
            Files.write(file, vocabulary);
            return encoding != null ? Tokenizer.of(encoding, file) : endOfText == null ? Tokenizer.of(file)
                    : Tokenizer.of(file, endOfText);
        } finally {
            Files.delete(file);
        }
    }
}
