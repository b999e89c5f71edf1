// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.JsonFields;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The header of a safetensors file:
 *
 * <pre>
 *    0  u64        N, at most 100,000,000
 *    8  char[N]    JSON, UTF-8, from '{' on; spaces behind it
 *                  name -> {"dtype": F32, "shape": [2, 3], "data_offsets": [begin, end]}
 *                  "__metadata__" -> {string -> string}, may be missing
 *  8+N  bytes      the tensors, row-major, little-endian, without gaps; offsets count from here
 * </pre>
 */
record SafetensorsHeader(long headerBytes, @Nullable Map<String, String> metadata, List<Entry> entries) {

    static final String METADATA = "__metadata__";
    static final int LENGTH_BYTES = Long.BYTES;
    static final int MAX_HEADER_BYTES = 100_000_000;

    /** The limit of numpy and PyTorch. */
    private static final int MAX_RANK = 64;

    /** A tensor. The spec is null if the element type is unsupported; offsets count from the end of the header. */
    record Entry(String name, SafetensorsType type, List<Long> shape, @Nullable TensorSpec spec, long begin, long end) {
    }

    /** Tells whether a file starts with a header's length and the start of a JSON object. */
    static boolean isStart(byte[] head) {
        if (head.length < LENGTH_BYTES + 2) {
            return false;
        }
        long headerBytes = MemorySegment.ofArray(head).get(LittleEndian.I64, 0);
        byte second = head[LENGTH_BYTES + 1];
        return headerBytes >= 2 && headerBytes <= MAX_HEADER_BYTES
                && head[LENGTH_BYTES] == '{' && (second == '"' || second == '}');
    }

    /** Reads a file's header, and checks that its tensors are all that follows. */
    static SafetensorsHeader read(MappedFile file) throws IOException {
        long fileBytes = file.byteSize();
        if (fileBytes < LENGTH_BYTES) {
            throw new MalformedStoreException(file.location(), fileBytes, "the file ends",
                    "8 bytes that say how long its header is");
        }
        long headerBytes = file.range(0, LENGTH_BYTES).get(LittleEndian.I64, 0);
        if (headerBytes < 0 || headerBytes > MAX_HEADER_BYTES) {
            throw new MalformedStoreException(file.location(), 0, "a header of " + Long.toUnsignedString(headerBytes)
                    + " bytes", "at most " + MAX_HEADER_BYTES);
        }
        if (headerBytes > fileBytes - LENGTH_BYTES) {
            throw new MalformedStoreException(file.location(), fileBytes, "the file ends inside its header",
                    headerBytes + " bytes of it");
        }
        try {
            byte[] text = file.range(LENGTH_BYTES, headerBytes).toArray(JAVA_BYTE);
            return new Parser(file, fileBytes - LENGTH_BYTES - headerBytes, text).header();
        } catch (OutOfMemoryError e) {
            throw new IOException(file.location() + ": no memory for what its header of " + headerBytes
                    + " bytes says", e);
        }
    }

    long dataOffset() {
        return LENGTH_BYTES + headerBytes;
    }

    private record Parser(MappedFile file, long dataBytes, byte[] text) {

        SafetensorsHeader header() {
            if (text.length == 0 || text[0] != '{') {
                throw new MalformedStoreException(file.location(), LENGTH_BYTES, text.length == 0 ? "an empty header"
                        : String.format(Locale.ROOT, "byte 0x%02X", text[0]), "'{', the start of a JSON object");
            }
            try {
                return header(JsonFields.parse(text, "a safetensors header"));
            } catch (JsonException e) {
                throw e.offset() < 0 ? malformed(e.where() + "found " + e.found(), e.expected())
                        : new MalformedStoreException(file.location(), LENGTH_BYTES + e.offset(),
                                e.found() + " in the header", e.expected());
            }
        }

        private SafetensorsHeader header(JsonFields fields) {
            Map<String, String> metadata = fields.has(METADATA) ? fields.object(METADATA).texts() : null;
            List<Entry> entries = new ArrayList<>();
            for (String name : fields.names()) {
                entries.add(entry(name, fields.object(name)));
            }
            entries.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
            checkContiguous(entries);
            return new SafetensorsHeader(text.length, metadata, List.copyOf(entries));
        }

        private Entry entry(String name, JsonFields fields) {
            String dtype = fields.text("dtype");
            SafetensorsType type = SafetensorsType.of(dtype);
            if (type == null) {
                throw fields.wrong("dtype", Json.shown(dtype), "one of the format's, such as F32");
            }
            long[] shape = fields.wholes("shape", 0, Long.MAX_VALUE);
            long[] offsets = fields.wholes("data_offsets", 0, Long.MAX_VALUE);
            if (shape.length > MAX_RANK) {
                throw malformed(tensor(name) + " has " + shape.length + " dimensions", "at most " + MAX_RANK);
            }
            if (offsets.length != 2) {
                throw malformed(tensor(name) + " has " + offsets.length + " data_offsets", "its begin and its end");
            }
            long bytes = byteSize(name, type, shape);
            if (offsets[1] < offsets[0] || offsets[1] - offsets[0] != bytes) {
                throw malformed(tensor(name) + " has the data_offsets " + offsets[0] + " to " + offsets[1], bytes
                        + " bytes, which its shape has of " + type);
            }
            return new Entry(name, type, LongStream.of(shape).boxed().toList(),
                    type.dtype() == null ? null : new TensorSpec(name, type.dtype(), shape), offsets[0], offsets[1]);
        }

        /** Returns the size of all elements. Dimensions next to a 0 must not overflow either: rows are counted. */
        private long byteSize(String name, SafetensorsType type, long[] shape) {
            boolean isPacked = type.bits() < Byte.SIZE;
            long size = isPacked ? type.bits() : type.bits() / Byte.SIZE;
            boolean isEmpty = false;
            for (long dim : shape) {
                isEmpty |= dim == 0;
                if (dim > 0 && size > Long.MAX_VALUE / dim) {
                    throw malformed(tensor(name) + " has a shape of over 2^63 bytes", "fewer");
                }
                size *= Math.max(dim, 1);
            }
            if (isPacked && !isEmpty && size % Byte.SIZE != 0) {
                throw malformed(tensor(name) + " has " + size + " bits of " + type, "a whole number of bytes");
            }
            return isEmpty ? 0 : isPacked ? size / Byte.SIZE : size;
        }

        private void checkContiguous(List<Entry> entries) {
            long end = 0;
            for (Entry entry : entries) {
                if (entry.begin() != end) {
                    throw malformed(tensor(entry.name()) + " begins at " + entry.begin(), end
                            + ", where the one before it ends: no gaps, no overlaps");
                }
                end = entry.end();
            }
            if (end != dataBytes) {
                throw new MalformedStoreException(file.location(), file.byteSize(), "the file has " + dataBytes
                        + " bytes behind its header", end + ", where the last tensor ends");
            }
        }

        private MalformedStoreException malformed(String found, String expected) {
            return new MalformedStoreException(file.location(), LENGTH_BYTES, found, expected);
        }

        private static String tensor(String name) {
            return "tensor " + Json.shown(name);
        }
    }
}
