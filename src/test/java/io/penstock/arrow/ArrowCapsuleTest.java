// SPDX-License-Identifier: Apache-2.0
package io.penstock.arrow;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Reads what we export as a consumer in C would, by the offsets of the published structs: an {@code ArrowSchema} has
 * format, name, metadata, flags, n_children, children, dictionary, release, private_data; an {@code ArrowArray} length,
 * null_count, offset, n_buffers, n_children, buffers, children, dictionary, release, private_data; 8 bytes each.
 */
@SuppressWarnings("restricted")
class ArrowCapsuleTest {

    private final Arena arena = Arena.ofShared();
    private final AtomicInteger released = new AtomicInteger();

    @AfterEach
    void close() {
        arena.close();
    }

    private Tensor tensor(DType dtype, long... shape) {
        long count = 1;
        for (long dim : shape) {
            count *= dim;
        }
        MemorySegment memory = arena.allocate(Math.max(1, count * dtype.byteSize()), 64);
        for (int i = 0; i < count * dtype.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        return Tensor.of(memory.asSlice(0, count * dtype.byteSize()), dtype, shape);
    }

    private ArrowCapsule export(Object... columns) {
        Map<String, Tensor> map = new LinkedHashMap<>();
        for (int i = 0; i < columns.length; i += 2) {
            map.put((String) columns[i], (Tensor) columns[i + 1]);
        }
        return ArrowCapsule.of(map, released::incrementAndGet);
    }

    private static MemorySegment struct(long address) {
        return MemorySegment.ofAddress(address).reinterpret(80);
    }

    private static String text(MemorySegment struct, long at) {
        return struct.get(ADDRESS, at).reinterpret(100).getString(0);
    }

    private static MemorySegment child(MemorySegment struct, long at, int index) {
        return struct(struct.get(ADDRESS, at).reinterpret(800).getAtIndex(JAVA_LONG, index));
    }

    private static String described(MemorySegment schema) {
        StringBuilder text = new StringBuilder(text(schema, 8) + ":" + text(schema, 0));
        long count = schema.get(JAVA_LONG, 32);
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "(" : ",").append(described(child(schema, 40, i)));
        }
        return count == 0 ? text.toString() : text + ")";
    }

    private static void release(MemorySegment struct, long releaseAt) throws Throwable {
        Linker.nativeLinker().downcallHandle(struct.get(ADDRESS, releaseAt), FunctionDescriptor.ofVoid(ADDRESS))
                .invoke(struct);
    }

    /** Moves a struct as consumers do: copies it, and marks the source as released. */
    private MemorySegment moved(MemorySegment struct, long releaseAt) {
        MemorySegment copy = arena.allocate(80, 8).copyFrom(struct);
        struct.set(JAVA_LONG, releaseAt, 0);
        return copy;
    }

    @Test
    void shapesAreListsOfFixedSizesAndOffsetsMakeListsOfAnySize() {
        Tensor offsets = tensor(DType.I32, 4);
        try (ArrowCapsule capsule = export("x", tensor(DType.F32, 3), "image", tensor(DType.U8, 3, 4, 5),
                "flag", tensor(DType.BOOL, 3), "ids_offsets", offsets, "ids", tensor(DType.I64, 7))) {
            MemorySegment schema = struct(capsule.schemaAddress());
            assertEquals(":+s(x:f,image:+w:4(item:+w:5(item:C)),flag:C,ids:+l(item:l))", described(schema));
            MemorySegment array = struct(capsule.arrayAddress());
            assertEquals(3, array.get(JAVA_LONG, 0));
            MemorySegment image = child(array, 48, 1);
            assertEquals(3, image.get(JAVA_LONG, 0));
            assertEquals(12, child(image, 48, 0).get(JAVA_LONG, 0));
            assertEquals(60, child(child(image, 48, 0), 48, 0).get(JAVA_LONG, 0));
            MemorySegment ids = child(array, 48, 3);
            assertEquals(2, ids.get(JAVA_LONG, 24));
            assertEquals(offsets.segment().address(), ids.get(ADDRESS, 40).reinterpret(16).getAtIndex(JAVA_LONG, 1));
            assertEquals(7, child(ids, 48, 0).get(JAVA_LONG, 0));
        }
        assertEquals(1, released.get());
    }

    @Test
    void numbersAreWhereTheTensorHasThem() {
        Tensor x = tensor(DType.I16, 5);
        try (ArrowCapsule capsule = export("x", x)) {
            MemorySegment data = child(struct(capsule.arrayAddress()), 48, 0).get(ADDRESS, 40).reinterpret(16)
                    .getAtIndex(ADDRESS, 1).reinterpret(10);
            assertEquals(x.segment().address(), data.address());
            assertArrayEquals(x.segment().toArray(ValueLayout.JAVA_BYTE), data.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void theMemoryIsHeldUntilTheConsumerReleasesWhatItMoved() throws Throwable {
        ArrowCapsule capsule = export("x", tensor(DType.F32, 3), "y", tensor(DType.F32, 3));
        MemorySegment array = moved(struct(capsule.arrayAddress()), 64);
        MemorySegment schema = moved(struct(capsule.schemaAddress()), 56);
        capsule.close();
        capsule.close();
        assertEquals(0, released.get());
        release(schema, 56);
        assertEquals(0, schema.get(JAVA_LONG, 56), "a released struct says so");
        assertEquals(0, released.get());
        release(array, 64);
        assertEquals(1, released.get());
        assertThrows(IllegalStateException.class, capsule::arrayAddress);
    }

    @Test
    void aColumnThatWasMovedAwayOutlivesTheOthers() throws Throwable {
        ArrowCapsule capsule = export("x", tensor(DType.F32, 3), "y", tensor(DType.F32, 3, 2));
        MemorySegment array = moved(struct(capsule.arrayAddress()), 64);
        MemorySegment y = moved(child(array, 48, 1), 64);
        release(array, 64);
        capsule.close();
        assertEquals(0, released.get());
        assertEquals(3, y.get(JAVA_LONG, 0));
        Thread other = new Thread(() -> {
            try {
                release(y, 64);
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        });
        other.start();
        other.join();
        assertEquals(1, released.get());
    }

    @Test
    void whatIsNoColumnIsRefusedByName() {
        assertRefused("'b' of bf16", "b", tensor(DType.BF16, 3));
        assertRefused("'s' is a scalar", "s", tensor(DType.F32));
        assertRefused("'b' of 4 rows, expected 3", "a", tensor(DType.F32, 3), "b", tensor(DType.F32, 4));
        assertRefused("no columns");
        assertRefused("Java heap", "h", Tensor.of(MemorySegment.ofArray(new byte[4]), DType.U8, 4));
        assertEquals(0, released.get());
    }

    private void assertRefused(String why, Object... columns) {
        String message = assertThrows(IllegalArgumentException.class, () -> export(columns)).getMessage();
        assertTrue(message.contains(why), message);
    }
}
