// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Byte-level byte-pair encoding, as tiktoken does it. */
final class BytePairTokenizer implements Tokenizer {

    private static final int MAX_TEXT_BYTES = Integer.MAX_VALUE - 8;

    private final String name;
    private final Vocabulary vocabulary;
    private final TextSplit split;
    private final Map<String, Integer> specialTokens;
    /** The longest first. */
    private final List<Special> specials;
    private final boolean[] startsSpecial = new boolean[256];
    private final int vocabularySize;
    private final int endOfText;
    /** Encoders that no thread uses now: as many as threads have encoded at one time. */
    private final AtomicReferenceArray<PieceEncoder> idle =
            new AtomicReferenceArray<>(4 * Runtime.getRuntime().availableProcessors());

    private record Special(String text, byte[] utf8, int id) {
        boolean isAt(byte[] bytes, int from, int end) {
            return end - from >= utf8.length
                    && Arrays.equals(bytes, from, from + utf8.length, utf8, 0, utf8.length);
        }
    }

    BytePairTokenizer(String name, Vocabulary vocabulary, TextSplit split, Map<String, Integer> specialTokens,
            String endOfText) {
        this.name = name;
        this.vocabulary = vocabulary;
        this.split = split;
        this.specialTokens = Map.copyOf(specialTokens);
        Integer end = specialTokens.get(endOfText);
        if (end == null) {
            throw new IllegalArgumentException("end of text: found '" + endOfText
                    + "', expected one of the special tokens " + specialTokens.keySet());
        }
        this.endOfText = end;
        specials = specialTokens.entrySet().stream()
                .map(entry -> new Special(entry.getKey(), entry.getKey().getBytes(StandardCharsets.UTF_8),
                        entry.getValue()))
                .sorted(Comparator.comparingInt(special -> -special.utf8.length)).toList();
        int largest = vocabulary.size() - 1;
        for (Special special : specials) {
            if (special.utf8.length == 0 || special.id < 0 || isRanked(special.id)) {
                throw new IllegalArgumentException("special token '" + special.text + "': found id " + special.id
                        + ", expected a text, and an id that no other token has");
            }
            largest = Math.max(largest, special.id);
            startsSpecial[special.utf8[0] & 0xFF] = true;
        }
        if (specials.stream().mapToInt(Special::id).distinct().count() < specials.size()) {
            throw new IllegalArgumentException("special tokens: found an id twice in " + specialTokens);
        }
        vocabularySize = largest + 1;
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
            bytes = new String(bytes, from, length, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
            from = 0;
            length = bytes.length;
        }
        encodeWellFormed(bytes, from, from + length, special, ids);
    }

    private void encodeWellFormed(byte[] utf8, int from, int end, SpecialText special, TokenBuffer ids) {
        PieceEncoder encoder = take();
        if (special == SpecialText.ORDINARY) {
            encoder.encode(utf8, from, end, ids);
        } else {
            encodeWithSpecials(encoder, utf8, from, end, special, ids);
        }
        give(encoder);
    }

    private void encodeWithSpecials(PieceEncoder encoder, byte[] utf8, int from, int end, SpecialText choice,
            TokenBuffer ids) {
        int size = ids.size();
        int start = from;
        for (int at = from; at < end; ) {
            int special = startsSpecial[utf8[at] & 0xFF] ? specialAt(utf8, at, end) : -1;
            if (special < 0) {
                at++;
                continue;
            }
            Special found = specials.get(special);
            if (choice == SpecialText.FORBIDDEN) {
                ids.setSize(size);
                throw new IllegalArgumentException("at byte " + (at - from) + ": found the special token '"
                        + found.text + "', expected plain text");
            }
            encoder.encode(utf8, start, at, ids);
            ids.append(found.id);
            at += found.utf8.length;
            start = at;
        }
        encoder.encode(utf8, start, end, ids);
    }

    private int specialAt(byte[] utf8, int at, int end) {
        for (int i = 0; i < specials.size(); i++) {
            if (specials.get(i).isAt(utf8, at, end)) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public byte[] decode(int... ids) {
        int length = 0;
        for (int id : ids) {
            length = Math.addExact(length, isRanked(id) ? vocabulary.length(id) : special(id).utf8.length);
        }
        byte[] bytes = new byte[length];
        int at = 0;
        for (int id : ids) {
            if (isRanked(id)) {
                vocabulary.copy(id, bytes, at);
                at += vocabulary.length(id);
            } else {
                byte[] special = special(id).utf8;
                System.arraycopy(special, 0, bytes, at, special.length);
                at += special.length;
            }
        }
        return bytes;
    }

    private boolean isRanked(int id) {
        return id >= 0 && id < vocabulary.size() && vocabulary.length(id) > 0;
    }

    private Special special(int id) {
        return specials.stream().filter(special -> special.id == id).findAny().orElseThrow(() ->
                new IllegalArgumentException(name + ": found token id " + id + ", expected one of a token"));
    }

    private PieceEncoder take() {
        for (int i = 0; i < idle.length(); i++) {
            PieceEncoder encoder = idle.get(i) == null ? null : idle.getAndSet(i, null);
            if (encoder != null) {
                return encoder;
            }
        }
        return new PieceEncoder(vocabulary, split);
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
