package io.penstock.format.arrow;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.format.JsonText;
import io.penstock.format.UnwritableException;
import io.penstock.format.arrow.ArrowTree.Node;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * Writes values of one batch as JSON. Whatever a value points at is checked: an index against the length of its array,
 * and every access against its buffer, which throws an {@link IndexOutOfBoundsException}. One thread's.
 */
final class ArrowJsonWriter {

    private static final int VIEW_BYTES = 16;
    private static final int INLINE_BYTES = 12;
    private static final long MILLIS_OF_DAY = 86_400_000;

    private final ArrowTree tree;
    private final ArrowArrays arrays;
    private final MemorySegment[][] segments;
    /** For each array of indices which of the column's dictionaries it points into. */
    private final int[] dictionaryOf;
    private final List<ArrowJson> values;
    private final List<ArrowDictionary> own;
    /** For each dictionary the writers of those of its batches that were used. */
    private final ArrowJsonWriter[][] ofValues;

    ArrowJsonWriter(ArrowTree tree, ArrowArrays arrays, List<ArrowJson> values, List<ArrowDictionary> own) {
        this.tree = tree;
        this.arrays = arrays;
        this.segments = new MemorySegment[tree.size()][];
        this.dictionaryOf = new int[tree.size()];
        for (int d = 0; d < values.size(); d++) {
            dictionaryOf[tree.dictionaries().get(d).id()] = d;
        }
        this.values = values;
        this.own = own;
        this.ofValues = new ArrowJsonWriter[values.size()][];
    }

    /** Whether a row is null, or a struct above it. */
    boolean isNull(long row) {
        for (Node struct : tree.above()) {
            if (!isSet(struct, row)) {
                return true;
            }
        }
        return !isSet(tree.root(), row);
    }

    /** Appends the value of a row. */
    void append(long row, JsonText out) throws UnwritableException {
        append(tree.root(), row, out);
    }

    private MemorySegment[] buffers(Node node) {
        MemorySegment[] found = segments[node.id()];
        if (found == null) {
            found = arrays.segments(node);
            segments[node.id()] = found;
        }
        return found;
    }

    private boolean isSet(Node node, long i) {
        MemorySegment bitmap = buffers(node)[0];
        return bitmap == null || (bitmap.get(JAVA_BYTE, i >> 3) >> (i & 7) & 1) != 0;
    }

    private void append(Node node, long i, JsonText out) throws UnwritableException {
        Objects.checkIndex(i, arrays.length(node));
        if (!isSet(node, i)) {
            out.nothing();
        } else if (node.values() != null) {
            appendOfDictionary(node, i, out);
        } else {
            appendValue(node, i, out);
        }
    }

    private void appendValue(Node node, long i, JsonText out) throws UnwritableException {
        ArrowType type = node.field().type();
        MemorySegment[] b = buffers(node);
        switch (type.id()) {
            case NULL -> out.nothing();
            case BOOL -> out.truth((b[1].get(JAVA_BYTE, i >> 3) >> (i & 7) & 1) != 0);
            case INT -> {
                long value = number(b[1], i, type.bits(), type.isSigned());
                if (type.isSigned()) {
                    out.integer(value);
                } else {
                    out.unsigned(value);
                }
            }
            case FLOAT -> out.real(switch (type.bits()) {
                case 16 -> Float.float16ToFloat(b[1].get(LittleEndian.I16, i * Short.BYTES));
                case 32 -> Float.intBitsToFloat(b[1].get(LittleEndian.I32, i * Integer.BYTES));
                default -> Double.longBitsToDouble(b[1].get(LittleEndian.I64, i * Long.BYTES));
            });
            case DECIMAL -> out.decimal(highestFirst(b[1], i, type.valueBytes()), type.size());
            case DATE -> {
                long count = number(b[1], i, type.bits(), true);
                out.date(type.bits() == Integer.SIZE ? count : Math.floorDiv(count, MILLIS_OF_DAY));
            }
            case TIME -> out.time(number(b[1], i, type.bits(), true), type.size());
            case TIMESTAMP -> out.timestamp(number(b[1], i, Long.SIZE, true), type.size(),
                    type.text().contains(", tz="));
            case DURATION -> out.integer(number(b[1], i, Long.SIZE, true));
            case INTERVAL -> interval(b[1], i, type.bits(), out);
            case FIXED_SIZE_BINARY -> out.base64(b[1], i * type.size(), type.size());
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
                list(node, type.size() == 0 ? 0 : Objects.checkIndex(i, lists) * type.size(), type.size(), out);
            }
            case UNION -> {
                int code = b[1].get(JAVA_BYTE, i);
                Node child = node.ofCode(code);
                if (child == null) {
                    throw new UnwritableException("a union's value of type " + code + ", which it has not");
                }
                append(child, type.isDense() ? b[2].get(LittleEndian.I32, i * Integer.BYTES) : i, out);
            }
            case RUN_END_ENCODED -> append(node.children().get(1), runOf(node.children().get(0), i), out);
        }
    }

    private static long number(MemorySegment from, long i, int bits, boolean signed) {
        return switch (bits) {
            case Byte.SIZE -> signed ? from.get(JAVA_BYTE, i) : from.get(JAVA_BYTE, i) & 0xFF;
            case Short.SIZE -> signed ? from.get(LittleEndian.I16, i * Short.BYTES)
                    : from.get(LittleEndian.I16, i * Short.BYTES) & 0xFFFF;
            case Integer.SIZE -> signed ? from.get(LittleEndian.I32, i * Integer.BYTES)
                    : from.get(LittleEndian.I32, i * Integer.BYTES) & 0xFFFFFFFFL;
            default -> from.get(LittleEndian.I64, i * Long.BYTES);
        };
    }

    private static long offset(MemorySegment from, long i, ArrowType type) {
        return number(from, i, type.isLarge() ? Long.SIZE : Integer.SIZE, true);
    }

    private static byte[] highestFirst(MemorySegment from, long i, int width) {
        byte[] bytes = new byte[width];
        for (int k = 0; k < width; k++) {
            bytes[width - 1 - k] = from.get(JAVA_BYTE, i * width + k);
        }
        return bytes;
    }

    private static void interval(MemorySegment from, long i, int bits, JsonText out) throws UnwritableException {
        if (bits == Integer.SIZE) {
            out.integer(from.get(LittleEndian.I32, i * Integer.BYTES));
            return;
        }
        long at = i * (bits / Byte.SIZE);
        out.sign('[');
        out.integer(from.get(LittleEndian.I32, at));
        out.sign(',');
        out.integer(from.get(LittleEndian.I32, at + Integer.BYTES));
        if (bits > Long.SIZE) {
            out.sign(',');
            out.integer(from.get(LittleEndian.I64, at + Long.BYTES));
        }
        out.sign(']');
    }

    private static void bytes(ArrowType type, MemorySegment from, long offset, long length, JsonText out)
            throws UnwritableException {
        Objects.checkFromIndexSize(offset, length, from.byteSize());
        if (type.isText()) {
            out.text(from, offset, length);
        } else {
            out.base64(from, offset, length);
        }
    }

    private static void view(ArrowType type, MemorySegment[] b, long i, JsonText out) throws UnwritableException {
        long at = i * VIEW_BYTES;
        int length = b[1].get(LittleEndian.I32, at);
        if (length >= 0 && length <= INLINE_BYTES) {
            bytes(type, b[1], at + Integer.BYTES, length, out);
        } else {
            int buffer = Objects.checkIndex(b[1].get(LittleEndian.I32, at + 2 * Integer.BYTES), b.length - 2);
            bytes(type, b[2 + buffer], b[1].get(LittleEndian.I32, at + 3 * Integer.BYTES), length, out);
        }
    }

    private void struct(Node node, long i, JsonText out) throws UnwritableException {
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

    private void list(Node node, long from, long count, JsonText out) throws UnwritableException {
        Node item = node.children().getFirst();
        Objects.checkFromIndexSize(from, count, arrays.length(item));
        boolean isMap = node.field().type().id() == ArrowType.Id.MAP;
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

    private void entry(Node pair, long i, JsonText out) throws UnwritableException {
        out.sign('[');
        append(pair.children().get(0), i, out);
        out.sign(',');
        append(pair.children().get(1), i, out);
        out.sign(']');
    }

    /** The run that has a value: the first that ends behind it. */
    private long runOf(Node ends, long i) {
        MemorySegment[] b = buffers(ends);
        int bits = ends.field().type().bits();
        long low = 0;
        long high = arrays.length(ends);
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (number(b[1], middle, bits, true) > i) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private void appendOfDictionary(Node node, long i, JsonText out) throws UnwritableException {
        ArrowType index = node.field().dictionary().index();
        int d = dictionaryOf[node.id()];
        long key = number(buffers(node)[1], i, index.bits(), index.isSigned());
        long row = own.get(d).row(key, arrays.version(d));
        if (row < 0) {
            throw new UnwritableException("index " + key + ", which is not that of a value in its dictionary");
        }
        if (ofValues[d] == null) {
            ofValues[d] = new ArrowJsonWriter[values.get(d).batches()];
        }
        values.get(d).append(row, ofValues[d], out);
    }
}
