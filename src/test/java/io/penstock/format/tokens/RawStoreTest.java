// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.tokens;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RawStoreTest {

    private static final OpenOptions U16 = OpenOptions.DEFAULT.withFormat("raw").withDType(DType.U16);

    @TempDir
    private Path folder;

    private Path path;

    @BeforeEach
    void twentyFourBytes() throws IOException {
        byte[] bytes = new byte[24];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        path = Files.write(folder.resolve("rows"), bytes);
    }

    @Test
    void theShapeThatIsToldIsTheTensorsAndMinusOneIsAsManyRowsAsThereAre() throws IOException {
        for (List<Long> shape : List.<List<Long>>of(List.of(3L, 4L), List.of(-1L, 4L))) {
            try (TensorStore store = TensorStore.open(path, U16.withShape(shape))) {
                assertArrayEquals(new long[] {3, 4}, store.tensor(0).shape());
                assertEquals(0x0B0A, store.tensor(0).getLong(5));
                assertFalse(store.isConverted(0));
                Span span = new Span();
                store.locate(0, 1, 2, span);
                assertEquals(Location.of(path), span.file().location());
                assertEquals(List.of(8L, 16L), List.of(span.byteOffset(), span.byteSize()));
                assertThrows(IndexOutOfBoundsException.class, () -> store.locate(0, 2, 2, span));
            }
        }
        try (TensorStore store = TensorStore.open(path, U16)) {
            assertArrayEquals(new long[] {12}, store.tensor(0).shape());
        }
    }

    @Test
    void aHeaderIsSkippedAndElementsMayStandAtAnyAddress() throws IOException {
        try (TensorStore store = behind(4, DType.I32, List.of(-1L))) {
            assertEquals(0x07060504, store.tensor(0).getLong(0));
            assertEquals(5, store.tensor(0).elementCount());
        }
        try (TensorStore store = behind(4, DType.U16, List.of(5L, 2L))) {
            assertEquals(0x0504, store.tensor(0).getLong(0));
        }
        try (TensorStore store = behind(23, DType.U8, List.of())) {
            assertEquals(23, store.tensor(0).getLong(0));
        }
        assertThrows(MalformedStoreException.class, () -> behind(25, DType.U8, List.of()));
        assertThrows(IllegalArgumentException.class, () -> behind(-1, DType.U8, List.of()));
    }

    private TensorStore behind(long headerBytes, DType dtype, List<Long> shape) throws IOException {
        return TensorStore.open(path, U16.withDType(dtype).withShape(shape).withHeaderBytes(headerBytes));
    }

    @Test
    void aFileOfAnotherSizeIsRefusedWithBothSizes() {
        for (List<Long> each : List.<List<Long>>of(
                List.of(3L, 5L), List.of(2L, 4L), List.of(), List.of(-1L, 5L), List.of(0L, 4L))) {
            String message = assertThrows(MalformedStoreException.class,
                    () -> Store.open(path, U16.withShape(each))).getMessage();
            assertTrue(message.startsWith(path + ": at byte 24: 24 bytes, expected "), message);
        }
    }

    @Test
    void aShapeThatIsNoneIsWrongUsage() {
        for (List<Long> each : List.<List<Long>>of(
                List.of(4L, -1L), List.of(-2L), List.of(-1L, 0L), List.of(1L << 62, 1L << 62))) {
            assertThrows(IllegalArgumentException.class, () -> Store.open(path, U16.withShape(each)),
                    () -> Arrays.toString(each.toArray()));
        }
        assertThrows(IllegalArgumentException.class, () -> Store.open(path, OpenOptions.DEFAULT.withFormat("raw")));
    }

    @Test
    void anEmptyFileHasNoRows() throws IOException {
        Path empty = Files.write(folder.resolve("none"), new byte[0]);
        try (TensorStore store = TensorStore.open(empty, U16.withShape(List.of(-1L, 4L)))) {
            assertArrayEquals(new long[] {0, 4}, store.tensor(0).shape());
        }
    }
}
