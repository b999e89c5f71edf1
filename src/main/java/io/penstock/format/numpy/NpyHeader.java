// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.MalformedStoreException;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses the header of a {@code .npy}, versions 1.0, 2.0 and 3.0:
 *
 * <pre>
 *    0  6 bytes      0x93 "NUMPY"
 *    6  u8, u8       version
 *    8  u16          H, bytes of the text; u32 from version 2.0 on
 *   10  char[H]      a Python dictionary of descr, fortran_order and shape; Latin-1, UTF-8 from version 3.0 on
 * 10+H               the elements; with fortran_order the first index changes fastest
 * </pre>
 *
 * @param given the type of elements that are stored as uninterpreted bytes, or null; a part of a file may have another
 *     type
 */
record NpyHeader(Place place, long byteSize, int major, int offset, byte[] bytes, @Nullable DType given) {

    static final byte[] MAGIC = "\u0093NUMPY".getBytes(StandardCharsets.ISO_8859_1);
    static final int VERSION_OFFSET = 6;
    static final int LENGTH_OFFSET = 8;
    /** The most that numpy reads from an untrusted file. */
    static final int MAX_TEXT_CHARS = 10_000;
    /** numpy's own limit. */
    static final int MAX_RANK = 64;
    /** Magic, version, length, and the longest text: characters of UTF-8 take up to 4 bytes. */
    static final int MAX_BYTES = LENGTH_OFFSET + Integer.BYTES + 4 * MAX_TEXT_CHARS;

    private static final Set<String> KEYS = Set.of("descr", "fortran_order", "shape");
    private static final int MAX_SHOWN_CHARS = 80;

    /**
     * The place of an array, for messages; {@code part} is, for example, {@code member 'x.npy'}, or empty for a whole
     * file.
     */
    record Place(Object file, String part) {

        MalformedStoreException malformed(long offset, String found, String expected) {
            return part.isEmpty() ? new MalformedStoreException(file, offset, found, expected)
                    : new MalformedStoreException(file, part + ": at byte " + offset + " of it: " + found, expected);
        }
    }

    static boolean isMagic(byte[] head) {
        return head.length >= MAGIC.length && Arrays.equals(head, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
    }

    static NpyArray read(Place place, MemorySegment head, long byteSize, @Nullable DType given) {
        int major = readVersion(place, head);
        int textOffset = LENGTH_OFFSET + (major == 1 ? Short.BYTES : Integer.BYTES);
        if (byteSize < textOffset) {
            throw place.malformed(byteSize, "the file ends inside its header",
                    textOffset + " bytes and the header's text");
        }
        long textBytes = major == 1 ? head.get(LittleEndian.I16, LENGTH_OFFSET) & 0xFFFF
                : head.get(LittleEndian.I32, LENGTH_OFFSET) & 0xFFFF_FFFFL;
        int maxCharBytes = major < 3 ? 1 : 4;
        if (textBytes > (long) MAX_TEXT_CHARS * maxCharBytes) {
            throw place.malformed(LENGTH_OFFSET, "a header of " + textBytes + " bytes",
                    "at most " + MAX_TEXT_CHARS + " characters");
        }
        if (byteSize < textOffset + textBytes) {
            throw place.malformed(byteSize, "the file ends inside its header",
                    (textOffset + textBytes) + " bytes of it");
        }
        byte[] text = head.asSlice(textOffset, textBytes).toArray(JAVA_BYTE);
        return new NpyHeader(place, byteSize, major, textOffset, text, given).array();
    }

    private static int readVersion(Place place, MemorySegment file) {
        if (file.byteSize() == 0) {
            throw place.malformed(0, "the file is empty", "the header of a .npy");
        }
        byte[] head = file.asSlice(0, Math.min(MAGIC.length, file.byteSize())).toArray(JAVA_BYTE);
        if (!Arrays.equals(head, Arrays.copyOf(MAGIC, head.length))) {
            throw place.malformed(0, "magic " + HexFormat.of().formatHex(head),
                    HexFormat.of().formatHex(MAGIC) + " (is this a .npy?)");
        }
        if (file.byteSize() < LENGTH_OFFSET) {
            throw place.malformed(file.byteSize(), "the file ends inside its header", "a version");
        }
        int major = file.get(JAVA_BYTE, VERSION_OFFSET) & 0xFF;
        int minor = file.get(JAVA_BYTE, VERSION_OFFSET + 1) & 0xFF;
        if (major < 1 || major > 3 || minor != 0) {
            throw place.malformed(VERSION_OFFSET, "version " + major + "." + minor, "1.0, 2.0 or 3.0");
        }
        return major;
    }

    private NpyArray array() {
        Map<?, ?> fields = fields();
        NpyType type = type(fields.get("descr"));
        DType dtype = dtype(type);
        if (!(fields.get("fortran_order") instanceof Boolean isFortranOrder)) {
            throw malformed("fortran_order is " + describe(fields.get("fortran_order")), "True or False");
        }
        long[] shape = shape(fields.get("shape"));
        long dataBytes = dataBytes(shape, type);
        long dataOffset = (long) offset + bytes.length;
        if (dataBytes > byteSize - dataOffset) {
            throw place.malformed(byteSize, "the file ends after "
                    + (byteSize - dataOffset) / type.byteSize() + " elements of " + type,
                    dataBytes / type.byteSize() + " for shape " + Arrays.toString(shape));
        }
        return new NpyArray(major, type, dtype, isFortranOrder, shape, dataOffset, dataBytes);
    }

    private Map<?, ?> fields() {
        Charset charset = major < 3 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8;
        String text;
        try {
            text = charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException _) {
            throw malformed("a header that is not UTF-8", "UTF-8 in version " + major + ".0");
        }
        if (text.length() > MAX_TEXT_CHARS) {
            throw malformed("a header of " + text.length() + " characters", "at most " + MAX_TEXT_CHARS);
        }
        Object value;
        try {
            value = PythonLiteral.parse(text);
        } catch (ParseException e) {
            int before = text.substring(0, e.getErrorOffset()).getBytes(charset).length;
            throw place.malformed(offset + before, "a header that does not parse", String.valueOf(e.getMessage()));
        }
        if (!(value instanceof Map<?, ?> fields)) {
            throw malformed("a header that is not a dictionary", "one of descr, fortran_order and shape");
        }
        if (!fields.keySet().equals(KEYS)) {
            throw malformed("a header with the keys " + describe(fields.keySet()), "descr, fortran_order and shape");
        }
        return fields;
    }

    private NpyType type(@Nullable Object descr) {
        if (descr instanceof PythonLiteral.Sequence sequence) {
            throw malformed(sequence.isTuple() ? "a dtype of sub-arrays" : "a structured dtype", "one plain type");
        }
        if (!(descr instanceof String name)) {
            throw malformed("descr is " + describe(descr), "a string such as '<f4'");
        }
        return NpyType.of(name).orElseThrow(() -> malformed("descr " + describe(name) + ", "
                + NpyType.describe(name), "truth values, or integers or floats of up to 64 bits"));
    }

    private DType dtype(NpyType type) {
        DType stored = type.dtype();
        if (stored == null) {
            if (given == null || given.byteSize() != type.byteSize()) {
                throw malformed("descr '" + type + "', uninterpreted bytes", given == null
                        ? "a plain type (bf16 and 8-bit floats are stored so: pass the dtype)"
                        : "elements of " + given.byteSize() + " bytes, as " + given + " has");
            }
            return given;
        }
        if (place.part().isEmpty() && given != null && stored != given) {
            throw malformed("elements of " + stored, given + ", as given");
        }
        return stored;
    }

    private long[] shape(@Nullable Object value) {
        if (!(value instanceof PythonLiteral.Sequence sequence) || !sequence.isTuple()) {
            throw malformed("shape is " + describe(value), "a tuple of integers");
        }
        if (sequence.items().size() > MAX_RANK) {
            throw malformed("a shape of " + sequence.items().size() + " dimensions", "at most " + MAX_RANK);
        }
        long[] shape = new long[sequence.items().size()];
        for (int d = 0; d < shape.length; d++) {
            if (!(sequence.items().get(d) instanceof BigInteger dim) || dim.signum() < 0 || dim.bitLength() > 63) {
                throw malformed("dimension " + d + " is " + describe(sequence.items().get(d)),
                        "an integer from 0 to 2^63 - 1");
            }
            shape[d] = dim.longValue();
        }
        return shape;
    }

    /** Returns the size of all elements. Dimensions next to a 0 must not overflow either: rows are counted by them. */
    private long dataBytes(long[] shape, NpyType type) {
        long bytesSoFar = type.byteSize();
        boolean isEmpty = false;
        for (long dim : shape) {
            isEmpty |= dim == 0;
            if (dim > 0 && bytesSoFar > Long.MAX_VALUE / dim) {
                throw malformed("shape " + Arrays.toString(shape) + " of " + type, "fewer than 2^63 bytes");
            }
            bytesSoFar *= Math.max(dim, 1);
        }
        return isEmpty ? 0 : bytesSoFar;
    }

    private MalformedStoreException malformed(String found, String expected) {
        return place.malformed(offset, found, expected);
    }

    /** Returns a value of the file for a message, shortened to fit a line. */
    private static String describe(@Nullable Object value) {
        String shown = value instanceof String ? "'" + value + "'"
                : value instanceof PythonLiteral.Sequence s ? (s.isTuple() ? "a tuple " : "a list ") + s.items()
                : String.valueOf(value);
        return shown.length() <= MAX_SHOWN_CHARS ? shown : shown.substring(0, MAX_SHOWN_CHARS) + "...";
    }
}
