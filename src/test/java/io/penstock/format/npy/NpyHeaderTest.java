// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.npy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.OpenOptions;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers as numpy's reader takes and refuses them ({@code numpy/lib/_format_impl.py}). */
class NpyHeaderTest {

    private static final String PLAIN = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{'descr':'<i4','fortran_order':False,'shape':(2,3)}",
        "  { \"shape\" :\t( 2 , 3 , ) ,\n \"descr\" : \"<i4\" , \"fortran_order\" : False }  \n\n",
        "{'descr': u'<i4', 'fortran_order': False, 'shape': (2L, 3L), }",
        "{'descr': '=i4', 'fortran_order': False, 'shape': (+2, 3), }",
        "{'descr': 'i4', 'fortran_order': False, 'shape': ((2), (3)), }",
        "{'descr': 'int32', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '|i4', 'fortran_order': False, 'shape': (2, 3), }",
        "({'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)})",
        "{'descr': '<u1', 'fortran_order': False, 'shape': (9, 9), 'descr': '<i4', 'shape': (2, 3), }"})
    void whatPythonReadsAsTheSameDictionaryIsRead(String text) throws IOException {
        for (int major = 1; major <= 3; major++) {
            try (TensorStore store = TensorStore.open(file(major, text, 24))) {
                Tensor tensor = store.tensor(0);
                assertEquals(DType.I32, tensor.dtype());
                assertArrayEquals(new long[] {2, 3}, tensor.shape());
                assertEquals(0x03020100, tensor.getLong(0));
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '`', value = {
        "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }; pickle",
        "{'descr': 'O', 'fortran_order': False, 'shape': (2, 3), }; pickle",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }; complex",
        "{'descr': '<f16', 'fortran_order': False, 'shape': (2, 3), }; long double",
        "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2, 3), }; dates",
        "{'descr': '<m8[s]', 'fortran_order': False, 'shape': (2, 3), }; time spans",
        "{'descr': '|S4', 'fortran_order': False, 'shape': (2, 3), }; strings",
        "{'descr': '<U4', 'fortran_order': False, 'shape': (2, 3), }; strings",
        "{'descr': '|V4', 'fortran_order': False, 'shape': (2, 3), }; uninterpreted bytes",
        "{'descr': '|V2', 'fortran_order': False, 'shape': (2, 3), }; pass the dtype",
        "{'descr': '|V999999999', 'fortran_order': False, 'shape': (2, 3), }; uninterpreted bytes",
        "{'descr': '<i3', 'fortran_order': False, 'shape': (2, 3), }; unknown type",
        "{'descr': '', 'fortran_order': False, 'shape': (2, 3), }; unknown type",
        "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2, 3), }; structured",
        "{'descr': ('<i4', (2,)), 'fortran_order': False, 'shape': (2, 3), }; sub-arrays",
        "{'descr': 4, 'fortran_order': False, 'shape': (2, 3), }; descr is 4",
        "{'descr': None, 'fortran_order': False, 'shape': (2, 3), }; descr is None",
        "{'descr': '<i4', 'fortran_order': 0, 'shape': (2, 3), }; fortran_order is 0",
        "{'descr': '<i4', 'fortran_order': 'False', 'shape': (2, 3), }; fortran_order is",
        "{'descr': '<i4', 'fortran_order': False, 'shape': [2, 3], }; shape is a list",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (6), }; shape is 6",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, -3), }; dimension 1 is -3",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, True), }; dimension 1 is true",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3.0), }; an integer",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3e0), }; an integer",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 007), }; an integer",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 99999999999999999999), }; 2^63",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }; 2^63",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }; 2^63",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2305843009213693951,), }; 2305843009213693951",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 4), }; 6 elements",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}; keys",
        "{'descr': '<i4', 'fortran_order': False}; keys",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3); '}'",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), } x; end of the header",
        "{'descr': '<i4, 'fortran_order': False, 'shape': (2, 3), }; expected",
        "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (2, 3), }; literal",
        "{'descr' '<i4', 'fortran_order': False, 'shape': (2, 3), }; ':'",
        "['descr', 'fortran_order', 'shape']; not a dictionary",
        "{,}; literal",
        "'descr'; not a dictionary"})
    void whatNumpyOrTheEngineDoesNotReadIsRefusedByName(String text, String word) throws IOException {
        Path file = file(1, text, 24);
        String message = assertThrows(MalformedStoreException.class, () -> TensorStore.open(file)).getMessage();
        assertTrue(message.startsWith(file + ": at byte "), message);
        assertTrue(message.contains(word), message);
        assertTrue(message.contains("expected"), message);
        assertTrue(message.lines().count() == 1 && message.length() < 400, message);
    }

    @Test
    void anEmptyHeaderIsRefused() throws IOException {
        assertThrows(MalformedStoreException.class, () -> TensorStore.open(file(1, "", 24)));
        assertThrows(MalformedStoreException.class, () -> TensorStore.open(file(2, " \n", 24)));
    }

    @Test
    void nestingAndRankAndLengthOfTheHeaderAreLimited() throws IOException {
        String nested = "{'descr': " + "[".repeat(3000) + "]".repeat(3000)
                + ", 'fortran_order': False, 'shape': (2, 3), }";
        assertThrows(MalformedStoreException.class, () -> TensorStore.open(file(1, nested, 24)));
        String ones = "1, ".repeat(64);
        try (TensorStore store = TensorStore.open(file(1, PLAIN.replace("2, 3", ones), 24))) {
            assertEquals(64, store.tensor(0).rank());
        }
        Path rank65 = file(1, PLAIN.replace("2, 3", ones + "1"), 24);
        assertTrue(assertThrows(MalformedStoreException.class, () -> TensorStore.open(rank65)).getMessage()
                .contains("65 dimensions"));
        TensorStore.open(file(1, PLAIN + " ".repeat(10_000 - PLAIN.length()), 24)).close();
        TensorStore.open(file(3, PLAIN + " ".repeat(10_000 - PLAIN.length()), 24)).close();
        for (int major = 1; major <= 3; major++) {
            Path tooLong = file(major, PLAIN + " ".repeat(10_001 - PLAIN.length()), 24);
            assertTrue(assertThrows(MalformedStoreException.class, () -> TensorStore.open(tooLong)).getMessage()
                    .contains("at most 10000"));
        }
    }

    @Test
    void aHeaderLengthOf4GiBAllocatesNothing() throws IOException {
        byte[] bytes = Files.readAllBytes(file(2, PLAIN, 24));
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(8, -1);
        Path file = Files.write(folder.resolve("huge.npy"), bytes);
        assertTrue(assertThrows(MalformedStoreException.class, () -> TensorStore.open(file)).getMessage()
                .contains("4294967295"));
    }

    @Test
    void aHeaderThatIsNotUtf8IsRefusedInVersion3AndPlainLatin1Before() throws IOException {
        byte[] text = PLAIN.replace("descr", "descr\u00e9").getBytes(StandardCharsets.ISO_8859_1);
        assertTrue(assertThrows(MalformedStoreException.class,
                () -> TensorStore.open(file(3, new String(text, StandardCharsets.ISO_8859_1),
                        StandardCharsets.ISO_8859_1, 24))).getMessage().contains("UTF-8"));
        assertTrue(assertThrows(MalformedStoreException.class,
                () -> TensorStore.open(file(1, new String(text, StandardCharsets.ISO_8859_1), 24))).getMessage()
                .contains("keys"));
    }

    @Test
    void bytesBehindTheDataAreNoPartOfIt() throws IOException {
        try (TensorStore store = TensorStore.open(file(1, PLAIN, 1000))) {
            assertEquals(24, store.tensor(0).byteSize());
        }
    }

    @Test
    void aToldDTypeMustAgreeWithTheFile() throws IOException {
        TensorStore.open(file(1, PLAIN, 24), OpenOptions.DEFAULT.withDType(DType.I32)).close();
        assertThrows(MalformedStoreException.class,
                () -> TensorStore.open(file(1, PLAIN, 24), OpenOptions.DEFAULT.withDType(DType.F32)));
        Path bytes2 = file(1, PLAIN.replace("<i4", "|V2"), 24);
        TensorStore.open(bytes2, OpenOptions.DEFAULT.withDType(DType.BF16)).close();
        assertThrows(MalformedStoreException.class,
                () -> TensorStore.open(bytes2, OpenOptions.DEFAULT.withDType(DType.F8E4M3)));
    }

    @Test
    void otherMinorVersionsAreRefused() throws IOException {
        for (int[] version : new int[][] {{0, 0}, {1, 1}, {2, 1}, {3, 7}, {4, 0}, {255, 255}}) {
            byte[] bytes = Files.readAllBytes(file(1, PLAIN, 24));
            bytes[6] = (byte) version[0];
            bytes[7] = (byte) version[1];
            Path file = Files.write(folder.resolve("version.npy"), bytes);
            assertTrue(assertThrows(MalformedStoreException.class, () -> TensorStore.open(file)).getMessage()
                    .contains("version " + version[0] + "." + version[1]));
        }
    }

    @Test
    void aFileCutAnywhereIsRefused() throws IOException {
        byte[] bytes = Files.readAllBytes(file(2, PLAIN, 24));
        for (int length = 0; length < bytes.length; length++) {
            Path file = Files.write(folder.resolve("cut.npy"), java.util.Arrays.copyOf(bytes, length));
            String message = assertThrows(MalformedStoreException.class, () -> TensorStore.open(file)).getMessage();
            assertTrue(message.contains("expected"), message);
        }
    }

    /** Fortran order and byte order against the formula of the index, for shapes that tiles do not divide. */
    @Test
    void whatIsConvertedHasEachElementWhereItsIndexSays() throws IOException {
        for (int[] shape : new int[][] {{70, 33}, {33, 70}, {1, 5}, {5, 1}, {3, 1, 4}, {2, 35, 3, 40},
            {40, 2, 2, 2, 37},
            {1, 1}, {7, 0, 3}}) {
            for (String descr : new String[] {"|u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"}) {
                assertConverted(shape, descr);
            }
        }
    }

    private void assertConverted(int[] shape, String descr) throws IOException {
        int elementBytes = descr.charAt(2) - '0';
        int elements = 1;
        StringBuilder dims = new StringBuilder();
        for (int dim : shape) {
            elements *= dim;
            dims.append(dim).append(", ");
        }
        ByteBuffer data = ByteBuffer.allocate(elements * elementBytes)
                .order(descr.startsWith(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < elements; i++) {
            switch (elementBytes) {
                case 1 -> data.put((byte) i);
                case 2 -> data.putShort((short) i);
                case 4 -> data.putInt(i);
                default -> data.putLong(i);
            }
        }
        Path file = file(1, "{'descr': '" + descr + "', 'fortran_order': True, 'shape': (" + dims + ")}",
                data.array());
        try (TensorStore store = TensorStore.open(file)) {
            Tensor tensor = store.tensor(0);
            long mask = elementBytes == 8 ? -1 : (1L << 8 * elementBytes) - 1;
            for (int i = 0; i < elements; i++) {
                int rest = i;
                long stored = 0;
                for (int d = shape.length - 1; d >= 0; d--) {
                    int index = rest % shape[d];
                    rest /= shape[d];
                    long stride = 1;
                    for (int k = 0; k < d; k++) {
                        stride *= shape[k];
                    }
                    stored += index * stride;
                }
                assertEquals(stored & mask, tensor.getLong(i), descr + " " + dims + " element " + i);
            }
        }
    }

    private Path file(int major, String text, int dataBytes) throws IOException {
        return file(major, text, major < 3 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8, dataBytes);
    }

    private Path file(int major, String text, Charset charset, int dataBytes) throws IOException {
        byte[] data = new byte[dataBytes];
        for (int i = 0; i < dataBytes; i++) {
            data[i] = (byte) i;
        }
        return file(major, text.getBytes(charset), data);
    }

    private Path file(int major, String text, byte[] data) throws IOException {
        return file(major, text.getBytes(StandardCharsets.ISO_8859_1), data);
    }

    private Path file(int major, byte[] text, byte[] data) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(12 + text.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put("\u0093NUMPY".getBytes(StandardCharsets.ISO_8859_1)).put((byte) major).put((byte) 0);
        if (major == 1) {
            bytes.putShort((short) text.length);
        } else {
            bytes.putInt(text.length);
        }
        bytes.put(text).put(data);
        Path file = Files.createTempFile(folder, "array", ".npy");
        return Files.write(file, java.util.Arrays.copyOf(bytes.array(), bytes.position()));
    }
}
