// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * Encodes text as token ids by any tokenizer, for captions and transcripts: {@code i32[n]}.
 *
 * {@snippet :
 * Tokenizer clip = Tokenizer.of(Path.of("tokenizer.json"));
 * Decoder captions = TokenIds.of("clip", clip::encode).between(49406, 49407).atMost(77);
 * }
 *
 * <p>The text is UTF-8; any other bytes are an error. It and its ids are on the heap.
 */
public final class TokenIds implements Decoder {

    /** A tokenizer. Thread-safe; the same text has the same ids. */
    @FunctionalInterface
    public interface Encoder {

        /**
         * {@return the ids of a text}
         *
         * @param text the text
         * @throws IOException if it cannot be encoded
         */
        int[] encode(String text) throws IOException;
    }

    private final String name;
    private final Encoder encoder;
    private final int most;
    private final OptionalInt begin;
    private final OptionalInt end;

    private TokenIds(String name, Encoder encoder, int most, OptionalInt begin, OptionalInt end) {
        this.name = name;
        this.encoder = encoder;
        this.most = most;
        this.begin = begin;
        this.end = end;
    }

    /**
     * Creates a decoder of whole texts, without special ids.
     *
     * @param name the tokenizer's name: resuming requires the same
     * @param encoder the tokenizer
     * @return the decoder
     */
    public static TokenIds of(String name, Encoder encoder) {
        return new TokenIds(Objects.requireNonNull(name, "name"), Objects.requireNonNull(encoder, "encoder"),
                Integer.MAX_VALUE, OptionalInt.empty(), OptionalInt.empty());
    }

    /**
     * {@return a decoder of the first ids of each text; special ids are counted, and never cut off}
     *
     * @param count the most ids of a text
     * @throws IllegalArgumentException if there is no room for the special ids and one more
     */
    public TokenIds atMost(int count) {
        return checked(new TokenIds(name, encoder, count, begin, end));
    }

    /**
     * {@return a decoder that puts a special id before the ids of each text, and one behind them}
     *
     * @param first the id before
     * @param last the id behind
     * @throws IllegalArgumentException if there is no room for them and one more
     */
    public TokenIds between(int first, int last) {
        return checked(new TokenIds(name, encoder, most, OptionalInt.of(first), OptionalInt.of(last)));
    }

    private static TokenIds checked(TokenIds made) {
        if (made.most <= made.special()) {
            throw new IllegalArgumentException("found at most " + made.most + " ids, expected more than the "
                    + made.special() + " special ones");
        }
        return made;
    }

    private int special() {
        return (begin.isPresent() ? 1 : 0) + (end.isPresent() ? 1 : 0);
    }

    @Override
    public TensorSpec field(Column column) {
        Scalars.requireBytes(column, "text");
        return new TensorSpec(column.name(), DType.I32, TensorSpec.VARIABLE);
    }

    @Override
    public Session open() {
        return new Texts();
    }

    /** Keeps the ids of the last text, whose number is asked for before they are. */
    private final class Texts implements Session {

        private byte[] text = {};
        private int[] ids = {};
        private boolean isEncoded;

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
            encode(stored.asSlice(0, storedBytes));
            return (long) (Math.min(ids.length, most - special()) + special()) * Integer.BYTES;
        }

        private void encode(MemorySegment stored) throws IOException {
            if (isEncoded && stored.mismatch(MemorySegment.ofArray(text)) < 0) {
                return;
            }
            isEncoded = false;
            text = stored.toArray(JAVA_BYTE);
            try {
                ids = encoder.encode(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString());
            } catch (CharacterCodingException e) {
                throw new IOException("text that is not UTF-8", e);
            }
            isEncoded = true;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            long found = byteSize(stored, storedBytes);
            if (found != targetBytes) {
                throw new IOException("found " + found / Integer.BYTES + " ids, expected "
                        + targetBytes / Integer.BYTES);
            }
            long at = targetOffset;
            if (begin.isPresent()) {
                target.set(JAVA_INT_UNALIGNED, at, begin.getAsInt());
                at += Integer.BYTES;
            }
            int count = (int) (found / Integer.BYTES) - special();
            MemorySegment.copy(ids, 0, target, JAVA_INT_UNALIGNED, at, count);
            if (end.isPresent()) {
                target.set(JAVA_INT_UNALIGNED, at + (long) count * Integer.BYTES, end.getAsInt());
            }
        }
    }

    /** For example {@code ids of clip, at most 77, between 49406 and 49407}: part of the dataset's fingerprint. */
    @Override
    public String toString() {
        return "ids of " + name + (most == Integer.MAX_VALUE ? "" : ", at most " + most) + (begin.isPresent()
                ? ", between " + begin.getAsInt() + " and " + end.orElseThrow() : "");
    }
}
