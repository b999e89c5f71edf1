// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.dataset.source.FieldSource.Gathered;
import io.penstock.decode.Decoder;
import io.penstock.internal.Sha256;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.tokenize.TokenBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the numbers of records: of a column of JSON, which holds a record's object or its list of messages, or of
 * several columns that are the record's members.
 *
 * @param encoder makes the numbers
 * @param columns the members' columns; empty for one column of JSON
 * @param isGathered whether it gets the columns as {@link Gathered} describes; otherwise the one of JSON as it is
 * @param keepsLeftOut whether a record that is left out has no numbers; otherwise it is a bad sample
 * @param output what it makes of a record
 */
record ConversationDecoder(ConversationEncoder encoder, List<Column> columns, boolean isGathered, boolean keepsLeftOut,
        Output output)
        implements Decoder {

    static final List<Column> WHOLE = List.of();
    private static final String JSON = "json";

    /** What is made of a record. */
    enum Output {
        /** Its numbers. */
        NUMBERS,
        /** Where its images, sounds and videos are. */
        MEDIA_SPANS,
        /** Their names. */
        MEDIA_NAMES
    }

    /** Makes a decoder for one column of JSON. */
    ConversationDecoder(ConversationEncoder encoder, Output output) {
        this(encoder, WHOLE, false, output != Output.NUMBERS, output);
    }
    @Override
    public TensorSpec field(Column column) {
        if (columns.isEmpty() && column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException("found column " + column.name() + " of " + column.spec()
                    + ", expected JSON of conversations");
        }
        return switch (output) {
            case NUMBERS -> new TensorSpec(encoder.content().fieldName(), DType.I32, TensorSpec.VARIABLE);
            case MEDIA_SPANS -> new TensorSpec("media_spans", DType.I32, TensorSpec.VARIABLE, 3);
            case MEDIA_NAMES -> new TensorSpec("media_names", DType.U8, TensorSpec.VARIABLE);
        };
    }

    @Override
    public Session open() {
        return new Encoded();
    }

    /** The name in fingerprints: equal if the numbers are. */
    @Override
    public String toString() {
        MessageDigest sha256 = Sha256.digest();
        sha256.update((encoder.tokenizer().vocabularySha256() + "\n" + encoder.fingerprint())
                .getBytes(StandardCharsets.UTF_8));
        return "conversations:" + Sha256.shortHex(sha256) + (keepsLeftOut ? ":all" : "")
                + (output == Output.NUMBERS ? "" : ":" + output);
    }

    /** Keeps the last value's numbers, since its size is asked for before they are. */
    private final class Encoded implements Session {

        private final TokenBuffer numbers = new TokenBuffer();
        private byte[] names = {};
        private byte[] value = {};
        private boolean isEncoded;

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
            encode(stored, storedBytes);
            return output == Output.MEDIA_NAMES ? names.length : (long) numbers.size() * Integer.BYTES;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            encode(stored, storedBytes);
            if (output == Output.MEDIA_NAMES) {
                MemorySegment.copy(names, 0, target, ValueLayout.JAVA_BYTE, targetOffset, names.length);
                return;
            }
            if (targetBytes != (long) numbers.size() * Integer.BYTES) {
                throw new IOException("found " + numbers.size() + " tokens, expected " + targetBytes / Integer.BYTES);
            }
            numbers.copyTo(target.asSlice(targetOffset, targetBytes), DType.I32);
        }

        private void encode(MemorySegment stored, long storedBytes) throws IOException {
            MemorySegment all = stored.asSlice(0, storedBytes);
            if (isEncoded && value.length == storedBytes && all.mismatch(MemorySegment.ofArray(value)) < 0) {
                return;
            }
            isEncoded = false;
            value = all.toArray(ValueLayout.JAVA_BYTE);
            numbers.clear();
            try {
                Map<String, @Nullable Object> record = columns.isEmpty() ? ChatTokenizer.record(value, begin(), end())
                        : members();
                boolean isSample = output != Output.NUMBERS ? addMedia(record) : encoder.encode(record, numbers);
                if (!isSample) {
                    numbers.clear();
                }
                if (!isSample && !keepsLeftOut) {
                    throw new IOException("the conversation is too long, or none of its tokens is trained on");
                }
            } catch (IllegalArgumentException e) {
                throw new IOException(e.getMessage(), e);
            }
            isEncoded = true;
        }

        /** Where the one column of JSON begins. */
        private int begin() {
            return isGathered ? MemorySegment.ofArray(value).get(LittleEndian.I32, 0) : 0;
        }

        private int end() {
            if (isGathered && MemorySegment.ofArray(value).get(LittleEndian.I32, Integer.BYTES) < 0) {
                throw new IllegalArgumentException("found no value in the column, expected JSON");
            }
            return value.length;
        }

        private boolean addMedia(Map<String, @Nullable Object> record) {
            ChatTokenizer chats = (ChatTokenizer) encoder;
            StringBuilder lines = new StringBuilder();
            for (MediaRun run : chats.mediaRuns(chats.conversation(record))) {
                numbers.append(run.first());
                numbers.append(run.tokens());
                numbers.append(MediaTokens.TYPES.indexOf(run.type()));
                lines.append(run.name()).append('\n');
            }
            names = lines.toString().getBytes(StandardCharsets.UTF_8);
            return true;
        }

        private Map<String, @Nullable Object> members() {
            Map<String, @Nullable Object> record = new LinkedHashMap<>();
            MemorySegment all = MemorySegment.ofArray(value);
            for (int i = 0; i < columns.size(); i++) {
                int from = all.get(LittleEndian.I32, (long) i * Gathered.PART_BYTES);
                int bytes = all.get(LittleEndian.I32, (long) i * Gathered.PART_BYTES + Integer.BYTES);
                if (bytes >= 0) {
                    Column column = columns.get(i);
                    record.put(column.name(), member(column, from, bytes));
                }
            }
            return record;
        }

        private @Nullable Object member(Column column, int from, int bytes) {
            if (column.kind() == Column.Kind.NUMBERS) {
                return numbers(column.spec(), MemorySegment.ofArray(value).asSlice(from, bytes));
            }
            if (column.encoding().equals(JSON)) {
                return Json.parse(value, from, from + bytes);
            }
            return new String(value, from, bytes, StandardCharsets.UTF_8);
        }

        private static Object numbers(TensorSpec spec, MemorySegment stored) {
            long count = stored.byteSize() / spec.dtype().byteSize();
            Tensor tensor = Tensor.of(stored, spec.dtype(), count);
            List<Object> all = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                all.add(spec.dtype() == DType.BOOL ? (Object) (tensor.getLong(i) != 0)
                        : spec.dtype().isFloat() ? (Object) tensor.getDouble(i) : (Object) tensor.getLong(i));
            }
            return spec.rank() == 0 ? all.getFirst() : all;
        }
    }
}
