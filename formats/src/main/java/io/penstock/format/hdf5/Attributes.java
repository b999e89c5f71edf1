// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.internal.Sha256;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Reads the attributes of an object for inspection: from its header, or from a fractal heap if they are many. */
final class Attributes {

    private static final long EXACT_IN_DOUBLE = 1L << 53;
    private static final int MAX_LISTED_VALUES = 4096;
    private static final int SHARED_TYPE = 1;
    private static final int SHARED_DATASPACE = 2;
    private static final int TRACKS_ORDER = 1;
    private static final int IN_SHARED_HEAP = 2;

    private record Attribute(String name, long order, Map<String, @Nullable Object> fields) {
    }

    private final AddressSpace space;
    private final GlobalHeap strings;
    private final String path;
    private final List<Attribute> attributes = new ArrayList<>();

    private Attributes(AddressSpace space, GlobalHeap strings, String path) {
        this.space = space;
        this.strings = strings;
        this.path = path;
    }

    /** Returns an object's attributes in creation order if that is tracked, otherwise by name. */
    static List<Map<String, @Nullable Object>> read(AddressSpace space, GlobalHeap strings, ObjectHeader header,
            String path) {
        Attributes found = new Attributes(space, strings, path);
        for (Message message : header.all(Message.ATTRIBUTE)) {
            if (message.isShared()) {
                throw message.open("attribute").malformed("an attribute in the heap of shared messages, which is not"
                        + " supported", "one in an object header");
            }
            found.add(message.open("attribute of " + path), message.order());
        }
        boolean ordered = false;
        Cursor info = header.openIfThere(Message.ATTRIBUTE_INFO, "attribute info message");
        if (info != null) {
            info.version(0, 0);
            ordered = (info.u8() & TRACKS_ORDER) != 0;
            info.skip(ordered ? 2 : 0);
            found.readHeap(info.address(), info.address());
        }
        found.attributes.sort(ordered ? Comparator.comparingLong(Attribute::order)
                : Comparator.comparing(Attribute::name));
        return found.attributes.stream().map(Attribute::fields).toList();
    }

    private void readHeap(long heapAddress, long tree) {
        if (heapAddress == AddressSpace.UNDEFINED) {
            return;
        }
        FractalHeap heap = new FractalHeap(space, heapAddress);
        BTree2.walk(space, tree, BTree2.ATTRIBUTES, record -> {
            Cursor id = record.part(heap.idBytes(), "heap id of an attribute");
            if ((record.u8() & IN_SHARED_HEAP) != 0) {
                throw record.malformed("an attribute in the heap of shared messages, which is not supported",
                        "one in the object's own heap");
            }
            long order = record.u32();
            add(heap.object(id), order);
        });
    }

    private void add(Cursor at, long order) {
        int version = at.versionOf(1, 3);
        int flags = at.u8();
        int nameBytes = at.u16();
        int typeBytes = at.u16();
        int dataspaceBytes = at.u16();
        at.skip(version == 3 ? 1 : 0);
        String name = at.part(nameBytes, "name of an attribute of " + path).terminated();
        pad(at, version);
        String what = "attribute " + name + " of " + path;
        Cursor typeAt = at.part(typeBytes, what);
        pad(at, version);
        Cursor dataspaceAt = at.part(dataspaceBytes, what);
        pad(at, version);
        Datatype type = Datatype.read(version > 1 && (flags & SHARED_TYPE) != 0
                ? ObjectHeader.shared(space, typeAt, Message.DATATYPE, what) : typeAt);
        Dataspace dataspace = Dataspace.read(version > 1 && (flags & SHARED_DATASPACE) != 0
                ? ObjectHeader.shared(space, dataspaceAt, Message.DATASPACE, what) : dataspaceAt);
        Map<String, @Nullable Object> fields = Json.members("path", path, "name", name);
        describe(fields, type, dataspace, at);
        attributes.add(new Attribute(name, order, fields));
    }

    private static void pad(Cursor at, int version) {
        if (version == 1) {
            at.align(8);
        }
    }

    private void describe(Map<String, @Nullable Object> fields, Datatype type, Dataspace dataspace, Cursor at) {
        if (dataspace.isNull()) {
            fields.put("type", "empty");
            return;
        }
        long count = dataspace.elements();
        if (count < 0 || type.byteSize() > 0 && count > at.remaining() / type.byteSize()
                || type.byteSize() == 0 && count > MAX_LISTED_VALUES) {
            throw at.malformed((count < 0 ? "over 2^63" : count) + " elements of " + type.byteSize() + " bytes",
                    "as many as its " + at.remaining() + " bytes have room for");
        }
        switch (type.kind()) {
            case NUMBER -> describeNumbers(fields, type, dataspace, at.bytes(count * type.byteSize()));
            case FIXED_STRING, VARIABLE_STRING -> {
                List<byte[]> values = new ArrayList<>();
                for (long i = 0; i < count; i++) {
                    values.add(type.kind() == Datatype.Kind.FIXED_STRING ? fixed(at, type) : variable(at));
                }
                describeStrings(fields, dataspace, values);
            }
            default -> {
                fields.put("type", "unsupported");
                fields.put("stored_as", type.name());
            }
        }
    }

    private static byte[] fixed(Cursor at, Datatype type) {
        byte[] bytes = at.bytes(type.byteSize());
        int end = bytes.length;
        while (end > 0 && (bytes[end - 1] == 0 || type.padding() == Datatype.SPACE_PADDED && bytes[end - 1] == ' ')) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    private byte[] variable(Cursor at) {
        long length = at.u32();
        long collection = at.address();
        long number = at.u32();
        if (length == 0 || collection == 0 || collection == AddressSpace.UNDEFINED) {
            return new byte[0];
        }
        byte[] bytes = strings.object(collection, number);
        int end = 0;
        while (end < Math.min(bytes.length, length) && bytes[end] != 0) {
            end++;
        }
        return Arrays.copyOf(bytes, end);
    }

    private static void describeStrings(Map<String, @Nullable Object> fields, Dataspace dataspace,
            List<byte[]> values) {
        if (dataspace.shape().length == 0) {
            byte[] only = values.getFirst();
            fields.put("type", "string");
            fields.put("bytes", only.length);
            fields.put("sha256", Sha256.hex(MemorySegment.ofArray(only), _ -> { }));
            fields.put("value", Cursor.textOf(only));
            return;
        }
        fields.put("type", "strings");
        fields.put("shape", LongStream.of(dataspace.shape()).boxed().toList());
        fields.put("value", values.stream().limit(MAX_LISTED_VALUES).map(Cursor::textOf).toList());
    }

    private static void describeNumbers(Map<String, @Nullable Object> fields, Datatype type, Dataspace dataspace,
            byte[] bytes) {
        long[] shape = LongStream.concat(LongStream.of(dataspace.shape()), LongStream.of(type.dims())).toArray();
        MemorySegment segment = MemorySegment.ofArray(bytes);
        if (type.isWidened()) {
            MemorySegment stored = segment;
            segment = MemorySegment.ofArray(new byte[bytes.length / 3 * type.number().byteSize()]);
            type.widen(stored, segment);
        } else {
            type.toLittleEndian(segment);
        }
        Tensor tensor = Tensor.of(segment, type.number(), shape);
        List<Object> values = new ArrayList<>();
        for (long i = 0; i < Math.min(MAX_LISTED_VALUES, tensor.elementCount()); i++) {
            values.add(value(tensor, i));
        }
        fields.put("type", "array");
        fields.put("shape", LongStream.of(shape).boxed().toList());
        fields.put("dtype", type.number() == DType.BOOL ? "|b1" : type.name().replaceFirst("^enum.* of ", ""));
        fields.put("value", values);
        fields.put("sha256", Sha256.hex(segment, _ -> { }));
    }

    /** Returns a number for JSON: as text if it is not exact in a double, or not finite. */
    private static Object value(Tensor tensor, long i) {
        if (tensor.dtype() == DType.BOOL) {
            return tensor.getLong(i) != 0;
        }
        if (tensor.dtype().isFloat()) {
            double value = tensor.getDouble(i);
            return Double.isFinite(value) ? (Object) value : Double.toString(value);
        }
        long value = tensor.getLong(i);
        if (tensor.dtype() == DType.U64 && value < 0) {
            return Long.toUnsignedString(value);
        }
        return Math.abs(value) > EXACT_IN_DOUBLE || value == Long.MIN_VALUE ? Long.toString(value) : (Object) value;
    }
}
