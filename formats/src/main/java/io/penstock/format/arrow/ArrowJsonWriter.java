// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.format.table.JsonText;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes values of one batch as JSON. Checks every index against its array and every access against its buffer; the
 * latter throws {@link IndexOutOfBoundsException}. For one thread.
 */
final class ArrowJsonWriter {

    private final ArrowShape shape;
    private final ArrowArrays arrays;
    private final MemorySegment[] @Nullable [] segments;
    /** For each array of indices, the number of its dictionary. */
    private final int[] dictionaryOf;
    private final List<ArrowDictionary<ArrowJson>> dictionaries;
    /** For each dictionary, the writers of the batches used so far. */
    private final @Nullable ArrowJsonWriter[][] ofValues;

    ArrowJsonWriter(ArrowShape shape, ArrowArrays arrays, List<ArrowDictionary<ArrowJson>> dictionaries) {
        this.shape = shape;
        this.arrays = arrays;
        this.segments = new MemorySegment[shape.size()][];
        this.dictionaryOf = new int[shape.size()];
        List<ArrowNode> indexed = shape.root().indexed().toList();
        for (int d = 0; d < indexed.size(); d++) {
            dictionaryOf[indexed.get(d).id()] = d;
        }
        this.dictionaries = dictionaries;
        this.ofValues = dictionaries.stream().map(dictionary -> new ArrowJsonWriter[dictionary.values().batches()])
                .toArray(ArrowJsonWriter[][]::new);
    }

    /** Tells whether a row, or a struct above it, is null. */
    boolean isNull(long row) {
        for (ArrowNode node : shape.path()) {
            if (!isSet(node, row)) {
                return true;
            }
        }
        return false;
    }

    void append(long row, JsonText out) {
        append(shape.root(), row, out);
    }

    private MemorySegment[] buffers(ArrowNode node) {
        MemorySegment @Nullable [] found = segments[node.id()];
        if (found == null) {
            found = arrays.segments(node);
            segments[node.id()] = found;
        }
        return found;
    }

    private boolean isSet(ArrowNode node, long i) {
        MemorySegment bitmap = buffers(node)[0];
        return bitmap.byteSize() == 0 || isBitSet(bitmap, i);
    }

    private static boolean isBitSet(MemorySegment bits, long i) {
        return (bits.get(JAVA_BYTE, i >> 3) >> (i & 7) & 1) != 0;
    }

    private void append(ArrowNode node, long i, JsonText out) {
        Objects.checkIndex(i, arrays.length(node));
        if (!isSet(node, i)) {
            out.nothing();
        } else if (node.values() != null) {
            appendOfDictionary(node, i, out);
        } else {
            appendValue(node, i, out);
        }
    }

    private void appendValue(ArrowNode node, long i, JsonText out) {
        ArrowType type = node.type();
        MemorySegment[] b = buffers(node);
        switch (type.id()) {
            case NULL -> out.nothing();
            case BOOL -> out.truth(isBitSet(b[1], i));
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8 -> {
                long from = offset(b[1], i, type);
                bytes(type, b[2], from, offset(b[1], i + 1, type) - from, out);
            }
            case BINARY_VIEW, UTF8_VIEW -> view(type, b, i, out);
            case STRUCT -> struct(node, i, out);
            case LIST, LARGE_LIST, MAP -> {
                long from = offset(b[1], i, type);
                list(node, from, offset(b[1], i + 1, type) - from, out);
            }
            case LIST_VIEW, LARGE_LIST_VIEW -> list(node, offset(b[1], i, type), offset(b[2], i, type), out);
            case FIXED_SIZE_LIST -> {
                long lists = type.size() == 0 ? Long.MAX_VALUE
                        : arrays.length(node.children().getFirst()) / type.size();
                list(node, Objects.checkIndex(i, lists) * type.size(), type.size(), out);
            }
            case UNION -> {
                int code = b[1].get(JAVA_BYTE, i);
                ArrowNode child = node.ofCode(code);
                if (child == null) {
                    throw new CodecException("a union's value of unknown type " + code);
                }
                append(child, type.isDense() ? b[2].get(LittleEndian.I32, i * Integer.BYTES) : i, out);
            }
            case RUN_END_ENCODED -> append(node.children().get(1), runOf(node.children().get(0), i), out);
            default -> type.write(b[1], i * type.valueBytes(), out);
        }
    }

    private static long offset(MemorySegment from, long i, ArrowType type) {
        return type.offsetBytes() == Long.BYTES ? from.get(LittleEndian.I64, i * Long.BYTES)
                : from.get(LittleEndian.I32, i * Integer.BYTES);
    }

    private static void bytes(ArrowType type, MemorySegment from, long offset, long length, JsonText out) {
        Objects.checkFromIndexSize(offset, length, from.byteSize());
        if (type.isText()) {
            out.text(from, offset, length);
        } else {
            out.base64(from, offset, length);
        }
    }

    private static void view(ArrowType type, MemorySegment[] b, long i, JsonText out) {
        long at = i * ArrowType.VIEW_BYTES;
        int length = b[1].get(LittleEndian.I32, at);
        if (length >= 0 && length <= ArrowType.INLINE_BYTES) {
            bytes(type, b[1], at + Integer.BYTES, length, out);
        } else {
            int buffer = Objects.checkIndex(b[1].get(LittleEndian.I32, at + 2 * Integer.BYTES), b.length - 2);
            bytes(type, b[2 + buffer], b[1].get(LittleEndian.I32, at + 3 * Integer.BYTES), length, out);
        }
    }

    private void struct(ArrowNode node, long i, JsonText out) {
        out.sign('{');
        for (int c = 0; c < node.children().size(); c++) {
            if (c > 0) {
                out.sign(',');
            }
            out.raw(node.children().get(c).key());
            append(node.children().get(c), i, out);
        }
        out.sign('}');
    }

    private void list(ArrowNode node, long from, long count, JsonText out) {
        ArrowNode item = node.children().getFirst();
        Objects.checkFromIndexSize(from, count, arrays.length(item));
        boolean isMap = node.type().id() == ArrowType.Id.MAP;
        out.sign('[');
        for (long i = from; i < from + count; i++) {
            if (i > from) {
                out.sign(',');
            }
            if (isMap) {
                entry(item, i, out);
            } else {
                append(item, i, out);
            }
        }
        out.sign(']');
    }

    private void entry(ArrowNode pair, long i, JsonText out) {
        out.sign('[');
        append(pair.children().get(0), i, out);
        out.sign(',');
        append(pair.children().get(1), i, out);
        out.sign(']');
    }

    /** Returns the run of a value: the first that ends after it. */
    private long runOf(ArrowNode ends, long i) {
        MemorySegment from = buffers(ends)[1];
        long low = 0;
        long high = arrays.length(ends);
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (ends.type().number(from, middle * ends.type().valueBytes()) > i) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private void appendOfDictionary(ArrowNode node, long i, JsonText out) {
        int d = dictionaryOf[node.id()];
        ArrowDictionary<ArrowJson> dictionary = dictionaries.get(d);
        long key = node.type().number(buffers(node)[1], i * node.type().valueBytes());
        long row = dictionary.row(key, arrays.version(d));
        if (row < 0) {
            throw new CodecException("index " + key + ", outside its dictionary");
        }
        dictionary.values().append(row, ofValues[d], out);
    }
}
