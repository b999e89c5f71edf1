// SPDX-License-Identifier: Apache-2.0
package io.penstock.arrow;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Columns exported as Arrow C data: an {@code ArrowArray} and an {@code ArrowSchema} on their way to a consumer, which
 * imports both by their addresses.
 *
 * {@snippet :
 * try (ArrowCapsule columns = batch.toArrow()) {
 *     consume(columns.arrayAddress());                         // an ArrowArray *, which the consumer imports
 *     consume(columns.schemaAddress());                        // an ArrowSchema *
 * }
 * }
 *
 * <p><b>Columns.</b> A tensor of shape {@code [rows]} is a column of numbers; one of {@code [rows, d, ...]} is a column
 * of fixed-size lists, nested for each dimension. A tensor {@code NAME_offsets} of {@code i32[rows + 1]} right before a
 * tensor {@code NAME} makes that a column of lists of any length. No value is null. Arrow packs booleans into bits, so
 * a {@code bool} tensor is exported as {@code uint8}, 0 or 1. {@code bf16} and the floats of 8 bits have no type in
 * Arrow and are refused.
 *
 * <p><b>Ownership.</b> A consumer that imports moves the structs away and releases them when it is done, from any
 * thread, each column alone if it wants. The memory stays until the last of them is released; then {@code onRelease}
 * runs. Closing the capsule releases what nobody imported, and frees the structs once all are released, so always close
 * it. The callback must not be called after the JVM has ended.
 */
public final class ArrowCapsule implements AutoCloseable {

    private static final String OFFSETS_SUFFIX = "_offsets";

    private static final long SCHEMA_BYTES = 72;
    private static final long FORMAT = 0;
    private static final long NAME = 8;
    private static final long SCHEMA_COUNT = 32;
    private static final long SCHEMA_CHILDREN = 40;
    private static final long SCHEMA_RELEASE = 56;
    private static final long SCHEMA_OWNER = 64;

    private static final long ARRAY_BYTES = 80;
    private static final long LENGTH = 0;
    private static final long BUFFER_COUNT = 24;
    private static final long ARRAY_COUNT = 32;
    private static final long BUFFERS = 40;
    private static final long ARRAY_CHILDREN = 48;
    private static final long ARRAY_RELEASE = 64;
    private static final long ARRAY_OWNER = 72;

    private static final System.Logger LOG = System.getLogger(ArrowCapsule.class.getName());

    /** What the callbacks find by the number in a struct: they get nothing but its address. */
    private static final Map<Long, ArrowCapsule> LIVE = new ConcurrentHashMap<>();
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final MemorySegment RELEASE_SCHEMA = callback("schemaReleased");
    private static final MemorySegment RELEASE_ARRAY = callback("arrayReleased");

    /** A column or a part of one; {@code buffers} are addresses, 0 for the validity that is missing. */
    private record Node(String name, String format, long length, List<Long> buffers, List<Node> children) {
    }

    private final long number = NUMBERS.incrementAndGet();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment schema;
    private final MemorySegment array;
    private final Runnable onRelease;
    /** The arrays that were not released, and all that still needs the structs' memory. */
    private final AtomicInteger arrays = new AtomicInteger();
    private final AtomicInteger users = new AtomicInteger(1);
    private boolean closed;

    /**
     * Exports tensors as the columns of one record batch.
     *
     * @param columns the tensors by name, in native memory, of equally many rows; their memory must stay until
     *     {@code onRelease} runs
     * @param onRelease called once when nobody needs the memory any more, on any thread; must not block
     * @return the capsule, to be closed by the caller
     * @throws IllegalArgumentException if a tensor is on the heap, is a scalar, has another number of rows than the
     *     others, or a dtype that Arrow does not have; names it
     */
    public static ArrowCapsule of(Map<String, Tensor> columns, Runnable onRelease) {
        Objects.requireNonNull(onRelease, "onRelease");
        return new ArrowCapsule(table(columns), onRelease);
    }

    private ArrowCapsule(Node table, Runnable onRelease) {
        this.onRelease = onRelease;
        this.schema = arena.allocate(SCHEMA_BYTES, Long.BYTES);
        this.array = arena.allocate(ARRAY_BYTES, Long.BYTES);
        LIVE.put(number, this);
        writeSchema(table, schema);
        writeArray(table, array);
    }

    private static Node table(Map<String, Tensor> columns) {
        List<Node> children = new ArrayList<>();
        Tensor offsets = null;
        String ragged = "";
        for (Map.Entry<String, Tensor> entry : columns.entrySet()) {
            String name = entry.getKey();
            Tensor tensor = entry.getValue();
            if (!tensor.segment().isNative()) {
                throw new IllegalArgumentException("column '" + name
                        + "' is on the Java heap, where native code cannot reach it");
            }
            if (offsets != null) {
                if (!name.equals(ragged)) {
                    throw new IllegalArgumentException("column '" + name + "' after '" + ragged + OFFSETS_SUFFIX
                            + "', expected '" + ragged + "'");
                }
                long rows = offsets.shape()[0] - 1;
                children.add(new Node(name, "+l", rows, List.of(0L, offsets.segment().address()),
                        List.of(fixed("item", tensor, name))));
                offsets = null;
            } else if (name.endsWith(OFFSETS_SUFFIX) && tensor.dtype() == DType.I32 && tensor.shape().length == 1
                    && columns.containsKey(name.substring(0, name.length() - OFFSETS_SUFFIX.length()))) {
                offsets = tensor;
                ragged = name.substring(0, name.length() - OFFSETS_SUFFIX.length());
            } else {
                children.add(fixed(name, tensor, name));
            }
        }
        if (children.isEmpty()) {
            throw new IllegalArgumentException("no columns, expected at least one");
        }
        long rows = children.getFirst().length;
        for (Node child : children) {
            if (child.length != rows) {
                throw new IllegalArgumentException("column '" + child.name + "' of " + child.length + " rows, expected "
                        + rows + ", as '" + children.getFirst().name + "' has (name the columns to export)");
            }
        }
        return new Node("", "+s", rows, List.of(0L), children);
    }

    /** Returns a tensor as numbers, or as lists of fixed sizes: one node for each dimension. */
    private static Node fixed(String name, Tensor tensor, String column) {
        long[] shape = tensor.shape();
        if (shape.length == 0) {
            throw new IllegalArgumentException("column '" + column + "' is a scalar, expected a row for each sample");
        }
        long length = 1;
        for (long dim : shape) {
            length *= dim;
        }
        Node node = new Node(shape.length == 1 ? name : "item", format(tensor.dtype(), column), length,
                List.of(0L, tensor.segment().address()), List.of());
        for (int d = shape.length - 1; d > 0; d--) {
            length = 1;
            for (int outer = 0; outer < d; outer++) {
                length *= shape[outer];
            }
            node = new Node(d == 1 ? name : "item", "+w:" + shape[d], length, List.of(0L), List.of(node));
        }
        return node;
    }

    private static String format(DType dtype, String column) {
        return switch (dtype) {
            case I8 -> "c";
            case U8, BOOL -> "C";
            case I16 -> "s";
            case U16 -> "S";
            case I32 -> "i";
            case U32 -> "I";
            case I64 -> "l";
            case U64 -> "L";
            case F16 -> "e";
            case F32 -> "f";
            case F64 -> "g";
            case BF16, F8E4M3, F8E5M2 -> throw new IllegalArgumentException("column '" + column + "' of " + dtype
                    + ", which Arrow does not have (name the columns to export, or take it as DLPack)");
        };
    }

    private void writeSchema(Node node, MemorySegment into) {
        users.incrementAndGet();
        into.set(ADDRESS, FORMAT, arena.allocateFrom(node.format));
        into.set(ADDRESS, NAME, arena.allocateFrom(node.name));
        into.set(JAVA_LONG, SCHEMA_COUNT, node.children.size());
        MemorySegment children = arena.allocate(Math.max(1, node.children.size()) * ADDRESS.byteSize(), Long.BYTES);
        into.set(ADDRESS, SCHEMA_CHILDREN, node.children.isEmpty() ? MemorySegment.NULL : children);
        for (int i = 0; i < node.children.size(); i++) {
            MemorySegment child = arena.allocate(SCHEMA_BYTES, Long.BYTES);
            writeSchema(node.children.get(i), child);
            children.setAtIndex(ADDRESS, i, child);
        }
        into.set(ADDRESS, SCHEMA_RELEASE, RELEASE_SCHEMA);
        into.set(JAVA_LONG, SCHEMA_OWNER, number);
    }

    private void writeArray(Node node, MemorySegment into) {
        users.incrementAndGet();
        arrays.incrementAndGet();
        into.set(JAVA_LONG, LENGTH, node.length);
        into.set(JAVA_LONG, BUFFER_COUNT, node.buffers.size());
        MemorySegment buffers = arena.allocate(node.buffers.size() * ADDRESS.byteSize(), Long.BYTES);
        for (int i = 0; i < node.buffers.size(); i++) {
            buffers.setAtIndex(JAVA_LONG, i, node.buffers.get(i));
        }
        into.set(ADDRESS, BUFFERS, buffers);
        into.set(JAVA_LONG, ARRAY_COUNT, node.children.size());
        MemorySegment children = arena.allocate(Math.max(1, node.children.size()) * ADDRESS.byteSize(), Long.BYTES);
        into.set(ADDRESS, ARRAY_CHILDREN, node.children.isEmpty() ? MemorySegment.NULL : children);
        for (int i = 0; i < node.children.size(); i++) {
            MemorySegment child = arena.allocate(ARRAY_BYTES, Long.BYTES);
            writeArray(node.children.get(i), child);
            children.setAtIndex(ADDRESS, i, child);
        }
        into.set(ADDRESS, ARRAY_RELEASE, RELEASE_ARRAY);
        into.set(JAVA_LONG, ARRAY_OWNER, number);
    }

    /**
     * {@return the address of the {@code ArrowArray}, a struct with one child for each column}
     *
     * @throws IllegalStateException if the capsule is closed
     */
    public synchronized long arrayAddress() {
        checkOpen();
        return array.address();
    }

    /**
     * {@return the address of the {@code ArrowSchema}}
     *
     * @throws IllegalStateException if the capsule is closed
     */
    public synchronized long schemaAddress() {
        checkOpen();
        return schema.address();
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the Arrow columns are closed");
        }
    }

    /** Releases the structs that nobody imported. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        release(array.address(), ARRAY_BYTES);
        release(schema.address(), SCHEMA_BYTES);
        end();
    }

    @SuppressWarnings("UnusedMethod")
    private static void schemaReleased(long struct) {
        released(struct, SCHEMA_BYTES);
    }

    @SuppressWarnings("UnusedMethod")
    private static void arrayReleased(long struct) {
        released(struct, ARRAY_BYTES);
    }

    /** The native entry point: an exception out of it would end the JVM. */
    private static void released(long struct, long structBytes) {
        try {
            release(struct, structBytes);
        } catch (Throwable t) {
            try {
                LOG.log(System.Logger.Level.ERROR, "an owner of Arrow columns failed when they were released", t);
            } catch (Throwable _) {
                // Nobody is left to notify.
            }
        }
    }

    /** Releases a struct and those of its children that were not moved away; does nothing if it was released. */
    @SuppressWarnings("restricted")
    private static void release(long address, long structBytes) {
        boolean isArray = structBytes == ARRAY_BYTES;
        MemorySegment struct = MemorySegment.ofAddress(address).reinterpret(structBytes);
        long callback = isArray ? ARRAY_RELEASE : SCHEMA_RELEASE;
        if (struct.get(JAVA_LONG, callback) == 0) {
            return;
        }
        ArrowCapsule owner = LIVE.get(struct.get(JAVA_LONG, isArray ? ARRAY_OWNER : SCHEMA_OWNER));
        long count = struct.get(JAVA_LONG, isArray ? ARRAY_COUNT : SCHEMA_COUNT);
        MemorySegment children = struct.get(ADDRESS, isArray ? ARRAY_CHILDREN : SCHEMA_CHILDREN)
                .reinterpret(count * ADDRESS.byteSize());
        for (long i = 0; i < count; i++) {
            release(children.getAtIndex(JAVA_LONG, i), structBytes);
        }
        struct.set(JAVA_LONG, callback, 0);
        if (owner != null) {
            owner.structReleased(isArray);
        }
    }

    private void structReleased(boolean isArray) {
        try {
            if (isArray && arrays.decrementAndGet() == 0) {
                onRelease.run();
            }
        } finally {
            end();
        }
    }

    private void end() {
        if (users.decrementAndGet() == 0) {
            LIVE.remove(number);
            arena.close();
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment callback(String method) {
        try {
            return Linker.nativeLinker().upcallStub(
                    MethodHandles.lookup().findStatic(ArrowCapsule.class, method,
                            MethodType.methodType(void.class, long.class)),
                    FunctionDescriptor.ofVoid(JAVA_LONG), Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
