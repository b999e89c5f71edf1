// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.store.Truth;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Arrays that say their own shape, in a dataset of the layout of MDS. */
class NdarrayDecoderTest {

    private static final Path ARRAYS = Truth.written("mds/arrays");

    @Test
    void arraysOfOneTypeWhoseFirstDimensionVariesAreDecoded() throws IOException {
        Decoder decoder = Decoder.typedNdarray(DType.F32, TensorSpec.VARIABLE, 3);
        try (RecordStore store = RecordStore.open(ARRAYS); Decoder.Session session = decoder.open();
                Arena arena = Arena.ofConfined()) {
            Column column = store.columns().get(1);
            assertEquals(new TensorSpec("f32", DType.F32, TensorSpec.VARIABLE, 3), decoder.field(column));
            for (long sample = 0; sample < store.size(); sample++) {
                MemorySegment stored = stored(store, sample, 1, arena);
                long bytes = session.byteSize(stored, stored.byteSize());
                assertEquals(12 * (sample + 1), bytes);
                MemorySegment target = arena.allocate(bytes + 8).fill((byte) 0x5A);
                session.decode(stored, stored.byteSize(), target, 4, bytes);
                assertEquals(-1, target.asSlice(4, bytes).mismatch(stored.asSlice(stored.byteSize() - bytes)));
                assertEquals(0x5A5A5A5A, target.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
                assertEquals(0x5A5A5A5A, target.get(ValueLayout.JAVA_INT_UNALIGNED, bytes + 4));
            }
        }
    }

    private static MemorySegment stored(RecordStore store, long sample, int column, Arena arena) {
        Span span = new Span();
        store.locate(sample, column, span);
        return arena.allocate(span.byteSize()).copyFrom(span.slice());
    }

    @Test
    void anArrayOfAnotherTypeOrShapeIsAnErrorThatNamesBoth() throws IOException {
        try (RecordStore store = RecordStore.open(ARRAYS); Arena arena = Arena.ofConfined()) {
            // Sample 1 of the column is i8[2,3].
            MemorySegment stored = stored(store, 1, 0, arena);
            for (Decoder other : new Decoder[] {Decoder.ndarray(DType.U8, 2, 3),
                    Decoder.ndarray(DType.I8, 3, 2), Decoder.ndarray(DType.I8, 6)}) {
                String message = assertThrows(CodecException.class,
                        () -> other.open().byteSize(stored, stored.byteSize())).getMessage();
                assertTrue(message.startsWith("an array i8[2, 3], expected "), message);
            }
            assertEquals(6, Decoder.ndarray(DType.I8, 2, 3).open().byteSize(stored, stored.byteSize()));
        }
    }

    @Test
    void everyPrefixOfAValueIsMalformed() throws IOException {
        try (RecordStore store = RecordStore.open(ARRAYS); Arena arena = Arena.ofConfined();
                Decoder.Session session = Decoder.ndarray(DType.F16, TensorSpec.VARIABLE).open()) {
            // Sample 4 is f16[7].
            MemorySegment stored = stored(store, 4, 0, arena);
            assertEquals(14, session.byteSize(stored, stored.byteSize()));
            for (long bytes = 0; bytes < stored.byteSize(); bytes++) {
                long length = bytes;
                assertThrows(CodecException.class, () -> session.byteSize(stored, length));
            }
        }
    }

    @Test
    void aColumnOfAnotherEncodingIsRefused() {
        Decoder typed = Decoder.typedNdarray(DType.U16, 4);
        assertEquals(new TensorSpec("x", DType.U16, 4), typed.field(Column.bytes("x", "ndarray:uint16")));
        for (Column other : new Column[] {Column.bytes("x", "ndarray"), Column.bytes("x", "ndarray:int16"),
                Column.bytes("x", "npy"), Column.numbers("x", DType.U16, 4)}) {
            assertThrows(IllegalArgumentException.class, () -> typed.field(other));
        }
    }

    /** The fingerprint of a dataset contains its decoders. */
    @Test
    void equalDecodersHaveOneNameAndOthersAnother() {
        String name = Decoder.ndarray(DType.F32, 2, 3).toString();
        assertEquals(name, Decoder.ndarray(DType.F32, 2, 3).toString());
        for (Decoder other : new Decoder[] {Decoder.typedNdarray(DType.F32, 2, 3),
                Decoder.ndarray(DType.F64, 2, 3), Decoder.ndarray(DType.F32, 3, 2)}) {
            assertNotEquals(name, other.toString());
        }
    }
}
