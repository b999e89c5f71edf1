// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.StoreInfo;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An index that is wrong in one place is refused with that place; the offsets are those of the layout. */
class MegatronIndexTest {

    @TempDir
    private Path folder;

    /** What the next index is made of: three sequences of 2, 0 and 3 tokens in two documents. */
    private long version;
    private int code;
    private long sequences;
    private long indices;
    private int[] lengths;
    private long[] pointers;
    private long[] documents;
    private byte[] behind;
    private long binBytes;

    @BeforeEach
    void wellFormed() {
        version = 1;
        code = 8;
        sequences = 3;
        indices = 3;
        lengths = new int[] {2, 0, 3};
        pointers = new long[] {0, 4, 4};
        documents = new long[] {0, 2, 3};
        behind = new byte[0];
        binBytes = 10;
    }

    private Path write() throws IOException {
        ByteBuffer idx = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        idx.put("MMIDIDX\0\0".getBytes(StandardCharsets.ISO_8859_1)).putLong(version).put((byte) code)
                .putLong(sequences).putLong(indices);
        for (int length : lengths) {
            idx.putInt(length);
        }
        for (long pointer : pointers) {
            idx.putLong(pointer);
        }
        for (long document : documents) {
            idx.putLong(document);
        }
        idx.put(behind);
        Files.write(folder.resolve("x.idx"), Arrays.copyOf(idx.array(), idx.position()));
        try (RandomAccessFile bin = new RandomAccessFile(folder.resolve("x.bin").toFile(), "rw")) {
            bin.setLength(binBytes);
        }
        return folder.resolve("x");
    }

    private void assertRefused(String... words) throws IOException {
        Path prefix = write();
        String message = assertThrows(MalformedStoreException.class, () -> TokenStore.open(prefix)).getMessage();
        assertTrue(message.startsWith(prefix.toString()) && message.contains(", expected "), message);
        for (String word : words) {
            assertTrue(message.contains(word), () -> "'" + word + "' is not in: " + message);
        }
    }

    @Test
    void theWellFormedOneOpens() throws IOException {
        try (TokenStore store = TokenStore.open(write())) {
            assertEquals(5, store.tokenCount());
            assertEquals(2, store.documentCount());
            assertEquals(2, store.documentStart(1));
            assertEquals(5, store.documentStart(2));
            assertThrows(IndexOutOfBoundsException.class, () -> store.documentStart(3));
            assertThrows(IndexOutOfBoundsException.class, () -> store.documentStart(-1));
        }
    }

    @Test
    void everyCodeIsReadAndNoOther() throws IOException {
        DType[] dtypes = {null, DType.U8, DType.I8, DType.I16, DType.I32, DType.I64, DType.F64,
            DType.F32, DType.U16, DType.I32, DType.I32};
        for (int c = 0; c <= 255; c++) {
            wellFormed();
            code = c;
            if (c == 0 || c > 10) {
                assertRefused("x.idx: at byte 17: dtype code " + c, "1..10");
            } else {
                int bytes = dtypes[c].byteSize();
                pointers = new long[] {0, 2L * bytes, 2L * bytes};
                binBytes = 5L * bytes;
                try (TokenStore store = TokenStore.open(write())) {
                    assertEquals(dtypes[c], store.dtype());
                    assertEquals(5, store.tokenCount());
                }
            }
        }
    }

    @Test
    void countsThatTheFileHasNoRoomForAreRefusedWhateverTheirSize() throws IOException {
        for (long count : new long[] {4, 1000, Integer.MAX_VALUE, 1L << 32, 1L << 60, 1L << 61, Long.MAX_VALUE, -1,
            Long.MIN_VALUE, (1L << 62) + 3}) {
            wellFormed();
            sequences = count;
            assertRefused(count == 4 ? "x.idx: at byte " : "x.idx: at byte 18: a count of "
                    + Long.toUnsignedString(count));
            wellFormed();
            indices = count;
            assertRefused("x.idx: at byte 26: a count of " + Long.toUnsignedString(count));
        }
        wellFormed();
        indices = 0;
        assertRefused("x.idx: at byte 26");
    }

    @Test
    void aNegativeLengthIsRefused() throws IOException {
        lengths[1] = -1;
        assertRefused("x.idx: at byte 38: sequence 1 has -1 tokens");
    }

    @Test
    void aPointerWithinATokenOrOutOfTheTokensIsRefused() throws IOException {
        for (long pointer : new long[] {1, 3, -2, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - 1}) {
            wellFormed();
            pointers[2] = pointer;
            assertRefused("x.idx: at byte 62: the pointer of sequence 2 is " + pointer, "a multiple of the 2 bytes");
        }
        wellFormed();
        pointers[1] = Long.MIN_VALUE;
        assertRefused("x.idx: at byte 54");
        wellFormed();
        pointers[2] = 6;
        assertRefused("x.bin: at byte 10: the file ends, expected 12 bytes, as ");
        wellFormed();
        pointers[1] = 1 << 20;
        assertRefused("x.bin: at byte 10: the file ends, expected 1048576 bytes");
    }

    @Test
    void anIndexThatBeginsWithinTheTokensIsStillOneRun() throws IOException {
        pointers = new long[] {6, 10, 10};
        binBytes = 16;
        try (TokenStore store = TokenStore.open(write())) {
            assertTrue(store.isOneRun());
            assertEquals(2, store.documentStart(1));
            assertEquals(5, store.documentStart(2));
            Span span = new Span();
            store.locate(1, 3, span);
            assertEquals(8, span.byteOffset());
            assertEquals(6, span.byteSize());
        }
    }

    @Test
    void documentIndicesThatDoNotCoverTheSequencesInOrderAreRefused() throws IOException {
        documents[0] = 1;
        assertRefused("x.idx: at byte 70: document 0 starts at sequence 1, expected 0");
        wellFormed();
        documents = new long[] {0, 3, 2, 3};
        indices = 4;
        assertRefused("x.idx: at byte 86: document index 2 is 2, expected 3 to 3");
        wellFormed();
        documents[1] = 4;
        assertRefused("x.idx: at byte 78: document index 1 is 4");
        wellFormed();
        documents[1] = -1;
        assertRefused("x.idx: at byte 78");
        wellFormed();
        documents[2] = 2;
        assertRefused("x.idx: at byte 86: the last document ends at sequence 2, expected 3");
        wellFormed();
        documents = new long[] {0};
        indices = 1;
        assertRefused("the last document ends at sequence 0, expected 3");
    }

    @Test
    void documentsWithoutASequenceAreLegal() throws IOException {
        documents = new long[] {0, 0, 2, 2, 3, 3};
        indices = 6;
        try (TokenStore store = TokenStore.open(write())) {
            assertEquals(5, store.documentCount());
            assertEquals(0, store.documentStart(1));
            assertEquals(2, store.documentStart(2));
            assertEquals(2, store.documentStart(3));
            assertEquals(5, store.documentStart(4));
        }
    }

    @Test
    void bytesBehindTheIndicesAreOneModeASequenceOrRefused() throws IOException {
        behind = new byte[] {0, 1, 0};
        try (TokenStore store = TokenStore.open(write())) {
            assertEquals(true, ((StoreInfo.Described) store).info().details().get("multimodal"));
        }
        for (int surplus : new int[] {1, 2, 4, 8, 1000}) {
            behind = new byte[surplus];
            assertRefused("x.idx: at byte 94: " + surplus + " bytes behind document_indices");
        }
    }

    @Test
    void aBinThatIsTooShortIsRefusedAndOneThatIsLongerIsRead() throws IOException {
        for (long bytes : new long[] {0, 1, 9}) {
            binBytes = bytes;
            assertRefused("x.bin: at byte " + bytes + ": the file ends, expected 10");
        }
        binBytes = 1000;
        try (TokenStore store = TokenStore.open(write())) {
            assertEquals(5, store.tokenCount());
        }
    }

    @Test
    void aStoreWithoutATokenIsEmpty() throws IOException {
        sequences = 0;
        indices = 1;
        lengths = new int[0];
        pointers = new long[0];
        documents = new long[1];
        binBytes = 0;
        try (TokenStore store = TokenStore.open(write())) {
            assertEquals(0, store.tokenCount());
            assertEquals(0, store.documentCount());
        }
        wellFormed();
        lengths = new int[3];
        pointers = new long[3];
        binBytes = 0;
        try (TokenStore store = TokenStore.open(write())) {
            assertEquals(0, store.tokenCount());
            assertEquals(2, store.documentCount());
            assertEquals(0, store.documentStart(2));
        }
    }

    @Test
    void anIndexCutAnywhereIsRefused() throws IOException {
        byte[] whole = Files.readAllBytes(Path.of(write() + ".idx"));
        for (int length = 0; length < whole.length; length++) {
            Files.write(folder.resolve("x.idx"), Arrays.copyOf(whole, length));
            String message = assertThrows(MalformedStoreException.class,
                    () -> TokenStore.open(folder.resolve("x.idx"))).getMessage();
            assertTrue(message.contains("x.idx: at byte "), message);
        }
    }

    @Test
    void aBinThatIsAFolderIsRefused() throws IOException {
        write();
        Files.delete(folder.resolve("x.bin"));
        Files.createDirectory(folder.resolve("x.bin"));
        assertThrows(MalformedStoreException.class, () -> TokenStore.open(folder.resolve("x")));
    }
}
