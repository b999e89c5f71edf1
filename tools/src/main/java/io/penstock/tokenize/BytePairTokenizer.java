// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.internal.Sha256;
import io.penstock.text.Utf8;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Byte-level byte-pair encoding, as tiktoken and Hugging Face's tokenizers do it. */
final class BytePairTokenizer implements Tokenizer {

    private static final int MAX_TEXT_BYTES = Integer.MAX_VALUE - 8;
    /** No character below U+0300, whose first byte this is, composes with another. */
    private static final int FIRST_COMPOSING_BYTE = 0xCC;
    private static final byte NEVER_UTF8 = (byte) 0xFF;
    private static final int[] NOWHERE = {};

    private final String name;
    private final Vocabulary vocabulary;
    private final Rules rules;
    private final Map<String, Integer> specialTokens;
    private final Map<Integer, byte[]> addedById = new HashMap<>();
    /** Whether a text without special tokens is only split and encoded. */
    private final boolean isPlain;
    private final int vocabularySize;
    private final int endOfText;
    /** Idle encoders: as many as threads have encoded at the same time. */
    private final AtomicReferenceArray<PieceEncoder> idle =
            new AtomicReferenceArray<>(4 * Runtime.getRuntime().availableProcessors());

    /**
     * What happens to a text before its pieces are encoded, in this order.
     *
     * @param added the tokens that are found first
     * @param isNormalized whether the text between them is normalized to form C
     * @param addedLater the tokens that are found in the normalized text
     * @param split how the rest is split into pieces
     */
    record Rules(AddedTokens added, boolean isNormalized, AddedTokens addedLater, TextSplit split) {
    }

    BytePairTokenizer(String name, Vocabulary vocabulary, Rules rules, String endOfText) {
        this.name = name;
        this.vocabulary = vocabulary;
        this.rules = rules;
        int largest = vocabulary.size() - 1;
        Map<String, Integer> special = new HashMap<>();
        for (AddedTokens.Token token : added().toList()) {
            if (token.id() < 0 || isRanked(token.id())) {
                throw new IllegalArgumentException("special token '" + token.text() + "': found id " + token.id()
                        + ", expected one that no other token has");
            }
            if (addedById.put(token.id(), token.utf8()) != null) {
                throw new IllegalArgumentException("special tokens: found id " + token.id() + " twice");
            }
            if (token.isSpecial() && special.put(token.text(), token.id()) != null) {
                throw new IllegalArgumentException("special tokens: found '" + token.text() + "' twice");
            }
            largest = Math.max(largest, token.id());
        }
        vocabularySize = largest + 1;
        specialTokens = Map.copyOf(special);
        isPlain = !rules.isNormalized && added().allMatch(AddedTokens.Token::isSpecial);
        Integer end = specialTokens.get(endOfText);
        if (end == null) {
            throw new IllegalArgumentException("end of text: found '" + endOfText
                    + "', expected one of the special tokens " + specialTokens.keySet());
        }
        this.endOfText = end;
    }

    /** {@return a tokenizer that works like tiktoken's} */
    static BytePairTokenizer of(String name, Vocabulary vocabulary, TextSplit split,
            Map<String, Integer> specialTokens, String endOfText) {
        specialTokens.keySet().stream().filter(String::isEmpty).findAny().ifPresent(_ -> {
            throw new IllegalArgumentException("special tokens: found one without text");
        });
        AddedTokens added = new AddedTokens(specialTokens.entrySet().stream()
                .map(entry -> AddedTokens.Token.of(entry.getKey(), entry.getValue(), true)).toList());
        return new BytePairTokenizer(name, vocabulary, new Rules(added, false, new AddedTokens(List.of()), split),
                endOfText);
    }

    private Stream<AddedTokens.Token> added() {
        return Stream.concat(rules.added.tokens().stream(), rules.addedLater.tokens().stream());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int vocabularySize() {
        return vocabularySize;
    }

    @Override
    public String vocabularySha256() {
        MessageDigest sha256 = Sha256.digest();
        sha256.update((rules.split.name() + " " + rules.isNormalized).getBytes(StandardCharsets.UTF_8));
        vocabulary.addTo(sha256);
        for (AddedTokens some : List.of(rules.added, rules.addedLater)) {
            some.tokens().forEach(token -> sha256.update(("\n" + token.id() + " " + token.isSpecial() + " "
                    + token.text()).getBytes(StandardCharsets.UTF_8)));
            sha256.update((byte) 0);
        }
        return Sha256.hex(sha256);
    }

    @Override
    public int endOfText() {
        return endOfText;
    }

    @Override
    public Map<String, Integer> specialTokens() {
        return specialTokens;
    }

    @Override
    public int[] encode(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        TokenBuffer ids = new TokenBuffer();
        encodeWellFormed(utf8, 0, utf8.length, SpecialText.ORDINARY, ids);
        return ids.toArray();
    }

    @Override
    public void encode(MemorySegment utf8, SpecialText special, TokenBuffer ids) {
        if (utf8.byteSize() > MAX_TEXT_BYTES) {
            throw new IllegalArgumentException(
                    "text: found " + utf8.byteSize() + " bytes, expected at most " + MAX_TEXT_BYTES);
        }
        int length = (int) utf8.byteSize();
        byte[] bytes;
        int from = 0;
        if (utf8.heapBase().orElse(null) instanceof byte[] array) {
            bytes = array;
            from = (int) utf8.address();
        } else {
            bytes = utf8.toArray(ValueLayout.JAVA_BYTE);
        }
        if (Utf8.firstIllFormed(bytes, from, from + length) >= 0) {
            bytes = wellFormed(Arrays.copyOfRange(bytes, from, from + length));
            from = 0;
            length = bytes.length;
        }
        encodeWellFormed(bytes, from, from + length, special, ids);
    }

    /** Puts U+FFFD in place of what is not UTF-8, as Python does; changes the array. */
    private static byte[] wellFormed(byte[] text) {
        for (int i = 0; i + 1 < text.length; i++) {
            if ((text[i] & 0xFF) == 0xED && (text[i + 1] & 0xE0) == 0xA0) {
                text[i] = NEVER_UTF8;       // a surrogate is one replacement in Java, but three in Python and Unicode
            }
        }
        return new String(text, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
    }

    /** Appends the ids of a text in well-formed UTF-8. */
    void encodeWellFormed(byte[] utf8, int from, int end, SpecialText special, TokenBuffer ids) {
        PieceEncoder encoder = take();
        if (special == SpecialText.ORDINARY && isPlain) {
            encoder.encode(utf8, from, end, ids);
        } else {
            int size = ids.size();
            try {
                new Pass(encoder, special, NOWHERE, NOWHERE, ids).encodeAround(rules.added, utf8, from, end, null);
            } catch (IllegalArgumentException e) {
                ids.setSize(size);
                throw e;
            }
        }
        give(encoder);
    }

    @Override
    public int[] encode(byte[] utf8, int[] plain, int[] places, TokenBuffer ids) {
        if (Utf8.firstIllFormed(utf8, 0, utf8.length) >= 0) {
            throw new IllegalArgumentException("text: found bytes that are not UTF-8 at byte "
                    + Utf8.firstIllFormed(utf8, 0, utf8.length));
        }
        PieceEncoder encoder = take();
        Pass pass = new Pass(encoder, SpecialText.ALLOWED, plain, places, ids);
        pass.encodeAround(rules.added, utf8, 0, utf8.length, null);
        give(encoder);
        return pass.counts();
    }

    /** One text on its way through the rules. */
    private final class Pass {

        private final PieceEncoder encoder;
        /** What becomes of special tokens. */
        private final SpecialText choice;
        /** Pairs of bytes of the source between which special tokens are plain text. */
        private final int[] plain;
        /** Bytes of the source, before which tokens are counted. */
        private final int[] places;
        private final int[] counts;
        private final TokenBuffer ids;
        private final int idsBefore;
        /** The places that are counted already. */
        private int counted;

        Pass(PieceEncoder encoder, SpecialText choice, int[] plain, int[] places, TokenBuffer ids) {
            this.encoder = encoder;
            this.choice = choice;
            this.plain = plain;
            this.places = places;
            this.counts = places.length == 0 ? NOWHERE : new int[places.length];
            this.ids = ids;
            this.idsBefore = ids.size();
        }

        /** Returns the number of tokens before each place. */
        int[] counts() {
            for (; counted < places.length; counted++) {
                counts[counted] = ids.size() - idsBefore;
            }
            return counts;
        }

        /** Counts the tokens before {@code token}, which begins at a byte of the source. */
        private void count(int token, int start) {
            for (; counted < places.length && places[counted] <= start; counted++) {
                counts[counted] = token - idsBefore;
            }
        }

        /**
         * Encodes added tokens and the text between them.
         *
         * @param composed the text, if it is a normalized one
         */
        void encodeAround(AddedTokens added, byte[] utf8, int from, int end, @Nullable ComposedText composed) {
            int start = from;
            int next = from;
            for (int at = added.next(utf8, from, end); at < end; at = added.next(utf8, next, end)) {
                AddedTokens.Token found = added.at(utf8, at, end);
                if (found == null) {
                    next = at + 1;
                    continue;
                }
                next = at + found.utf8().length;
                if (!found.isSpecial() || choice == SpecialText.ALLOWED && !isPlain(source(composed, at))) {
                    encodeBetween(added, utf8, start, at, composed);
                    append(found.id(), source(composed, at));
                    start = next;
                } else if (choice == SpecialText.FORBIDDEN) {
                    throw new IllegalArgumentException("at byte " + (at - from) + ": found the special token '"
                            + found.text() + "', expected plain text");
                }
            }
            encodeBetween(added, utf8, start, end, composed);
        }

        private void encodeBetween(AddedTokens added, byte[] utf8, int from, int end, @Nullable ComposedText composed) {
            if (added != rules.added) {
                int first = ids.size();
                encoder.encode(utf8, from, end, ids);
                count(first, from, end, composed);
            } else if (rules.isNormalized && mayCompose(utf8, from, end)) {
                ComposedText text = ComposedText.of(utf8, from, end, places.length + plain.length > 0);
                encodeAround(rules.addedLater, text.utf8(), 0, text.utf8().length, text);
            } else {
                encodeAround(rules.addedLater, utf8, from, end, null);
            }
        }

        private void append(int id, int start) {
            count(ids.size(), start);
            ids.append(id);
        }

        /** Counts the tokens from {@code first} on, which are those of some text, as far as there are places in it. */
        private void count(int first, int from, int end, @Nullable ComposedText composed) {
            int at = from;
            for (int i = first; i < ids.size() && counted < places.length && places[counted] <= source(composed, end);
                    i++) {
                count(i, source(composed, at));
                at += vocabulary.length(ids.get(i));
            }
        }

        private static int source(@Nullable ComposedText composed, int at) {
            return composed == null ? at : composed.source(at);
        }

        private boolean isPlain(int at) {
            for (int i = 0; i < plain.length && plain[i] <= at; i += 2) {
                if (at < plain[i + 1]) {
                    return true;
                }
            }
            return false;
        }
    }

    private static boolean mayCompose(byte[] utf8, int from, int end) {
        for (int i = from; i < end; i++) {
            if ((utf8[i] & 0xFF) >= FIRST_COMPOSING_BYTE) {
                return true;
            }
        }
        return false;
    }

    @Override
    public byte[] decode(int... ids) {
        int length = 0;
        for (int id : ids) {
            length = Math.addExact(length, isRanked(id) ? vocabulary.length(id) : addedText(id).length);
        }
        byte[] bytes = new byte[length];
        int at = 0;
        for (int id : ids) {
            if (isRanked(id)) {
                vocabulary.copy(id, bytes, at);
                at += vocabulary.length(id);
            } else {
                byte[] text = addedText(id);
                System.arraycopy(text, 0, bytes, at, text.length);
                at += text.length;
            }
        }
        return bytes;
    }

    private boolean isRanked(int id) {
        return id >= 0 && id < vocabulary.size() && vocabulary.length(id) > 0;
    }

    private byte[] addedText(int id) {
        byte[] text = addedById.get(id);
        if (text == null) {
            throw new IllegalArgumentException(name + ": found token id " + id + ", expected one of a token");
        }
        return text;
    }

    PieceEncoder take() {
        for (int i = 0; i < idle.length(); i++) {
            PieceEncoder encoder = idle.get(i) == null ? null : idle.getAndSet(i, null);
            if (encoder != null) {
                return encoder;
            }
        }
        return new PieceEncoder(vocabulary, rules.split);
    }

    private void give(PieceEncoder encoder) {
        for (int i = 0; i < idle.length(); i++) {
            if (idle.compareAndSet(i, null, encoder)) {
                return;
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
