// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@link Decoder#jsonNumber}. */
final class JsonNumber implements Decoder {

    private static final long MAX_BYTES = 64 << 20;

    private final String path;
    private final List<String> names;
    private final DType dtype;

    JsonNumber(String path, DType dtype) {
        if (dtype == DType.BF16 || dtype == DType.F8E4M3 || dtype == DType.F8E5M2) {
            throw new IllegalArgumentException("JSON numbers to " + dtype + ", expected integers, f16, f32, f64 or "
                    + "bool (a transform casts)");
        }
        this.path = path;
        this.names = path.isEmpty() ? List.of() : List.of(path.split("\\.", -1));
        this.dtype = dtype;
    }

    @Override
    public TensorSpec field(Column column) {
        Scalars.requireBytes(column, "JSON");
        return new TensorSpec(column.name(), dtype);
    }

    @Override
    public Session open() {
        return new Texts(this);
    }

    private long bits(@Nullable Object value) {
        switch (value) {
            case Boolean truth when dtype == DType.BOOL -> {
                return truth ? 1 : 0;
            }
            case Long number when dtype.isInteger() -> {
                if (Scalars.holds(dtype, number)) {
                    return number;
                }
            }
            case BigInteger number when dtype == DType.U64 && number.signum() >= 0 && number.bitLength() <= 64 -> {
                return number.longValue();
            }
            case Number number when dtype.isFloat() -> {
                return Scalars.bits(dtype, number.doubleValue());
            }
            case null, default -> { }
        }
        throw new CodecException(where() + (value instanceof Map ? "an object" : value instanceof List ? "an array"
                : Scalars.shown(String.valueOf(value))), dtype == DType.BOOL ? "true or false"
                : "a number that " + dtype + " holds");
    }

    private @Nullable Object find(@Nullable Object text) {
        @Nullable Object value = text;
        for (String name : names) {
            Object next = null;
            if (value instanceof Map<?, ?> map) {
                next = map.get(name);
            } else if (value instanceof List<?> list && name.matches("\\d{1,9}")
                    && Integer.parseInt(name) < list.size()) {
                next = list.get(Integer.parseInt(name));
            }
            if (next == null) {
                throw new CodecException(where() + "nothing at " + Scalars.shown(name), "a value");
            }
            value = next;
        }
        return value;
    }

    private String where() {
        return names.isEmpty() ? "" : "JSON value " + path + ": ";
    }

    private record Texts(JsonNumber number) implements Session {

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) {
            return number.dtype.byteSize();
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            Scalars.checkSize(number.dtype.byteSize(), targetBytes);
            if (storedBytes > MAX_BYTES) {
                throw new CodecException("a JSON text of " + storedBytes + " bytes", "at most " + MAX_BYTES);
            }
            byte[] utf8 = new byte[(int) storedBytes];
            MemorySegment.copy(stored, JAVA_BYTE, 0, utf8, 0, utf8.length);
            @Nullable Object text;
            try {
                text = Json.parse(utf8);
            } catch (JsonException e) {
                throw new CodecException("JSON that does not parse", String.valueOf(e.getMessage()));
            }
            Scalars.put(number.dtype, number.bits(number.find(text)), target, targetOffset);
        }
    }

    @Override
    public String toString() {
        return "JSON's " + path + " to " + dtype;
    }
}
