// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.decode.Decoder;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.tokenize.LineEncoder;
import io.penstock.tokenize.TokenBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Makes tokens of a column of JSON: of a record's whole object, or of its list of messages. */
record ConversationDecoder(LineEncoder encoder) implements Decoder {

    @Override
    public TensorSpec field(Column column) {
        if (column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException("found column " + column.name() + " of " + column.spec()
                    + ", expected JSON of conversations");
        }
        return new TensorSpec(encoder.content().fieldName(), DType.I32, TensorSpec.VARIABLE);
    }

    @Override
    public Session open() {
        return new Encoded();
    }

    /** Keeps the last value's tokens, since its size is asked for before they are. */
    private final class Encoded implements Session {

        private final TokenBuffer tokens = new TokenBuffer();
        private byte[] json = {};
        private boolean isEncoded;

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
            encode(stored, storedBytes);
            return (long) tokens.size() * Integer.BYTES;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            encode(stored, storedBytes);
            if (targetBytes != (long) tokens.size() * Integer.BYTES) {
                throw new IOException("found " + tokens.size() + " tokens, expected " + targetBytes / Integer.BYTES);
            }
            tokens.copyTo(target.asSlice(targetOffset, targetBytes), DType.I32);
        }

        private void encode(MemorySegment stored, long storedBytes) throws IOException {
            MemorySegment value = stored.asSlice(0, storedBytes);
            if (isEncoded && json.length == storedBytes && value.mismatch(MemorySegment.ofArray(json)) < 0) {
                return;
            }
            isEncoded = false;
            json = value.toArray(ValueLayout.JAVA_BYTE);
            tokens.clear();
            try {
                if (!encoder.encode(json, 0, json.length, tokens)) {
                    throw new IOException("the conversation is too long, or none of its tokens is trained on");
                }
            } catch (IllegalArgumentException e) {
                throw new IOException(e.getMessage(), e);
            }
            isEncoded = true;
        }
    }
}
