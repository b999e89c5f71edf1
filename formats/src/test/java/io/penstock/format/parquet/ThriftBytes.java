// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes structs in Thrift's compact protocol, well-formed or not: what tests make footers and page headers of. */
final class ThriftBytes {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private int lastField;

    /** A 32-bit field. */
    ThriftBytes i32(int field, int value) {
        return head(field, ThriftReader.I32).varint(zigzag(value));
    }

    /** A 64-bit field. */
    ThriftBytes i64(int field, long value) {
        return head(field, ThriftReader.I64).varint(zigzag(value));
    }

    /** A truth value. */
    ThriftBytes bool(int field, boolean value) {
        return head(field, value ? ThriftReader.TRUE : ThriftReader.FALSE);
    }

    /** A text. */
    ThriftBytes string(int field, String value) {
        return head(field, ThriftReader.BINARY).text(value);
    }

    /** A struct. */
    ThriftBytes struct(int field, ThriftBytes value) {
        return head(field, ThriftReader.STRUCT).raw(value.end());
    }

    /** A list of structs. */
    ThriftBytes structs(int field, ThriftBytes... values) {
        head(field, ThriftReader.LIST).listHead(values.length, ThriftReader.STRUCT);
        for (ThriftBytes value : values) {
            raw(value.end());
        }
        return this;
    }

    /** A list of texts. */
    ThriftBytes strings(int field, String... values) {
        head(field, ThriftReader.LIST).listHead(values.length, ThriftReader.BINARY);
        for (String value : values) {
            text(value);
        }
        return this;
    }

    /** A list of 32-bit numbers. */
    ThriftBytes i32s(int field, int... values) {
        head(field, ThriftReader.LIST).listHead(values.length, ThriftReader.I32);
        for (int value : values) {
            varint(zigzag(value));
        }
        return this;
    }

    /** A field's head, with nothing behind it. */
    ThriftBytes head(int field, int type) {
        int delta = field - lastField;
        if (delta > 0 && delta < 16) {
            out.write(delta << 4 | type);
        } else {
            out.write(type);
            varint(zigzag(field));
        }
        lastField = field;
        return this;
    }

    /** A list's head, with nothing behind it. */
    ThriftBytes listHead(long count, int type) {
        if (count < 15) {
            out.write((int) count << 4 | type);
            return this;
        }
        out.write(0xF0 | type);
        return varint(count);
    }

    /** A number as it is. */
    ThriftBytes varint(long value) {
        long left = value;
        for (; (left & ~0x7FL) != 0; left >>>= 7) {
            out.write((int) left & 0x7F | 0x80);
        }
        out.write((int) left);
        return this;
    }

    /** Bytes as they are. */
    ThriftBytes raw(byte... bytes) {
        out.writeBytes(bytes);
        return this;
    }

    private ThriftBytes text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return varint(bytes.length).raw(bytes);
    }

    /** The struct, with its end. */
    byte[] end() {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.writeBytes(out.toByteArray());
        whole.write(0);
        return whole.toByteArray();
    }

    private static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }
}
