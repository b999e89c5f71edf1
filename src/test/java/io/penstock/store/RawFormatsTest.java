// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.DocumentWindows;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TokenWindows;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.integrity.Verification;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Raw tokens, llm.c's and datatrove's files: what is recognised, and what is refused with which place. */
class RawFormatsTest {

    @TempDir
    private Path folder;

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    private static void assertRefused(Path path, String... words) {
        String message = assertThrows(MalformedStoreException.class, () -> TokenStore.open(path)).getMessage();
        assertTrue(message.contains(", expected ") && message.lines().count() == 1, message);
        for (String word : words) {
            assertTrue(message.contains(word), () -> "'" + word + "' is not in: " + message);
        }
    }

    private static byte[] llmc(int magic, int version, int count, int tokenBytes) {
        ByteBuffer bytes = ByteBuffer.allocate(1024 + tokenBytes).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(magic).putInt(version).putInt(count);
        for (int i = 1024; i < bytes.capacity(); i++) {
            bytes.put(i, (byte) (i * 7));
        }
        return bytes.array();
    }

    @Test
    void rawTokensAreAWholeNumberAndOneAtLeast() throws IOException {
        assertRefused(write("empty.bin", new byte[0]), "empty.bin: at byte 0", "empty");
        assertRefused(write("odd.bin", new byte[7]), "odd.bin: at byte 6", "7 bytes");
        try (TokenStore store = TokenStore.open(write("one.bin", new byte[] {1, 2}))) {
            assertEquals(1, store.tokenCount());
            assertEquals(1, store.documentCount());
            assertEquals(0, store.documentStart(0));
            assertEquals(1, store.documentStart(1));
            assertThrows(IndexOutOfBoundsException.class, () -> store.documentStart(2));
        }
        Path six = write("six.bin", new byte[6]);
        assertThrows(MalformedStoreException.class, () -> TokenStore.open(six, told("nanogpt", DType.U32)));
        TokenStore.open(six, told("nanogpt", DType.U8)).close();
    }

    @Test
    void aFileOfNoFormatIsRefusedUnlessItsFormatIsTold() throws IOException {
        Path text = write("notes.txt", "some text".getBytes());
        assertRefused(text, "notes.txt: no format detected", "llmc");
        TokenStore.open(text, told("nanogpt", DType.U8)).close();
    }

    @Test
    void aFolderWithoutFilesIsSaidToBeEmpty() throws IOException {
        Path none = Files.createDirectory(folder.resolve("none"));
        assertRefused(none, "none: an empty folder (hidden files do not count)");
        write("none/.hidden", new byte[4]);
        assertRefused(none, "an empty folder");
        write("none/notes.txt", "some text".getBytes());
        assertRefused(none, "a folder in which no format is detected");
    }

    @Test
    void anArrayOfNumpyIsNotReadAsRawTokensWhateverItsName() throws IOException {
        assertRefused(write("tokens.bin", Files.readAllBytes(Fixtures.path("npy/tokens_u16.npy"))), "npy");
    }

    @Test
    void aHeaderOfLlmcIsNeverReadAsTokensAndRawTokensAreNotTakenForOne() throws IOException {
        assertRefused(write("a.bin", llmc(20240521, 1, 10, 20)), "unknown llm.c magic 20240521");
        assertRefused(write("b.bin", llmc(20251231, 9, 10, 20)), "unknown llm.c magic 20251231");
        assertRefused(write("c.bin", Arrays.copyOf(llmc(20240520, 1, 10, 20), 40)), "inside its header");
        assertRefused(write("d.bin", Arrays.copyOf(llmc(20240521, 1, 10, 20), 800)), "unknown llm.c magic");
        assertRefused(write("e.bin", Arrays.copyOf(llmc(20240520, 1, 10, 20), 4)), "inside its header");
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < 200; i++) {
            byte[] tokens = new byte[2048];
            random.nextBytes(tokens);
            ByteBuffer.wrap(tokens).order(ByteOrder.LITTLE_ENDIAN).putInt(0, 20240521);
            try (TokenStore store = TokenStore.open(write("raw.bin", tokens))) {
                assertEquals(1024, store.tokenCount(), "seed 11, file " + i);
            }
        }
    }

    @Test
    void versionAndCountOfLlmcMustAgreeWithMagicAndSize() throws IOException {
        assertRefused(write("a.bin", llmc(20240520, 7, 10, 20)), "at byte 4: version 7, expected 1");
        assertRefused(write("b.bin", llmc(20240801, 1, 10, 40)), "at byte 4: version 1, expected 7");
        assertRefused(write("c.bin", llmc(20240801, 7, 10, 20)), "1044 bytes, expected 1064");
        assertRefused(write("d.bin", llmc(20240520, 1, 10, 22)), "1046 bytes, expected 1044");
        assertRefused(write("f.bin", llmc(20240520, 1, -5, 20)), "at byte 8: a count of -5 tokens");
        assertRefused(write("g.bin", llmc(20240801, 7, Integer.MAX_VALUE, 20)), "expected 8589935612");
        try (TokenStore store = TokenStore.open(write("h.bin", llmc(20240801, 7, 10, 40)))) {
            assertEquals(DType.U32, store.dtype());
            assertEquals(10, store.tokenCount());
        }
    }

    private Path datatrove(int tokenBytes, String metadata, long... ends) throws IOException {
        ByteBuffer index = ByteBuffer.allocate(ends.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long end : ends) {
            index.putLong(end);
        }
        Files.deleteIfExists(folder.resolve("x.ds.metadata"));
        write("x.ds.index", index.array());
        if (metadata != null) {
            write("x.ds.metadata", metadata.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
        return write("x.ds", new byte[tokenBytes]);
    }

    @Test
    void theSizeOfTokensComesBehindTheLastBarOfTheFirstLine() throws IOException {
        for (String line : new String[] {"gpt2|4", "a|b|c|4", "|4", "Unknown Tokenizer|4|4", "gpt2|4\n10\n10 T",
            "t\u00f6k\u0000en|4 \r\n", "2|4"}) {
            try (TokenStore store = TokenStore.open(datatrove(20, line, 2, 5))) {
                assertEquals(DType.U32, store.dtype(), line);
                assertEquals(2, store.documentStart(1));
            }
        }
        for (String size : new String[] {"3", "", "-2", "two", "22", "8", "2.0", "4\u0000", "9".repeat(400)}) {
            assertRefused(datatrove(20, "gpt2|" + size + "\n5", 2, 5), "x.ds.metadata: at byte 5: token size '");
        }
        assertRefused(datatrove(20, "x".repeat(70_000), 2, 5), "x.ds.metadata");
    }

    @Test
    void withoutMetadataTheIndexSaysTheSizeOfTokens() throws IOException {
        for (String metadata : new String[] {null, "gpt2", ""}) {
            try (TokenStore wide = TokenStore.open(datatrove(20, metadata, 2, 5))) {
                assertEquals(DType.U32, wide.dtype());
            }
            try (TokenStore narrow = TokenStore.open(datatrove(10, metadata, 2, 5))) {
                assertEquals(DType.U16, narrow.dtype());
            }
            assertRefused(datatrove(15, metadata, 2, 5), "x.ds: at byte 10: a file of 15 bytes, expected 10");
        }
        Path told = datatrove(20, "gpt2|4", 2, 5);
        assertThrows(MalformedStoreException.class, () -> TokenStore.open(told, told("datatrove", DType.U16)));
        TokenStore.open(told, told("datatrove", DType.U32)).close();
    }

    @Test
    void anIndexThatDoesNotEndWhereTheTokensDoIsRefused() throws IOException {
        assertRefused(datatrove(10, "gpt2|2", 2, 4), "x.ds: at byte 8", "expected 8");
        assertRefused(datatrove(10, "gpt2|2", 2, 6), "x.ds: at byte 10", "expected 12");
        assertRefused(datatrove(10, "gpt2|2", 3, 2, 5), "x.ds.index: at byte 8: document 1 ends at token 2");
        assertRefused(datatrove(10, "gpt2|2", 2, -1), "x.ds.index: at byte 8", "18446744073709551615");
        assertRefused(datatrove(10, "gpt2|2", Long.MIN_VALUE), "x.ds.index: at byte 0");
        assertRefused(datatrove(10, "gpt2|4", 1L << 62), "x.ds.index: at byte 0", "2^60");
        assertRefused(datatrove(10, "gpt2|2"), "x.ds: at byte 0: a file of 10 bytes, expected 0");
        assertRefused(datatrove(10, "gpt2|2", 0, 0), "x.ds: at byte 0: a file of 10 bytes, expected 0");
        Path without = datatrove(10, "gpt2|2", 5);
        Files.delete(folder.resolve("x.ds.index"));
        assertRefused(without, "x.ds.index: no such file");
    }

    @Test
    void emptyStoresAreOpenedInspectedAndVerifiedAsSuchAndHaveNoWindow() throws Exception {
        for (int version : new int[] {1, 7}) {
            assertEmpty(write("e.bin", llmc(version == 1 ? 20240520 : 20240801, version, 0, 0)), 0,
                    version == 1 ? DType.U16 : DType.U32);
        }
        assertEmpty(datatrove(0, "gpt2|4"), 0, DType.U32);
        assertEmpty(datatrove(0, "gpt2|2"), 0, DType.U16);
        assertEmpty(datatrove(0, null), 0, DType.U16);
        assertEmpty(datatrove(0, "gpt2|4", 0, 0), 2, DType.U32);
        write("x.ds.loss", new byte[0]);
        assertEmpty(datatrove(0, null, 0), 1, DType.U16);
    }

    private static void assertEmpty(Path path, long documents, DType dtype) throws Exception {
        try (TokenStore store = TokenStore.open(path)) {
            assertEquals(0, store.tokenCount());
            assertEquals(dtype, store.dtype());
            assertEquals(documents, store.documentCount());
            assertEquals(0, store.documentStart(documents));
            assertThrows(IndexOutOfBoundsException.class, () -> store.documentStart(documents + 1));
            assertTrue(store.fingerprint().contains(":tokens=0:docs=" + documents), store.fingerprint());
            Span span = new Span();
            store.locate(0, 0, span);
            assertEquals(0, span.byteSize());
            assertEquals(0, TokenWindows.of(store, 1).size());
            assertEquals(0, DocumentWindows.withoutLabels(store, 1, 1).size());
            assertEquals(documents, Documents.of(store).size());
            assertEquals(0, Documents.of(store).maxLength(0));
        }
        assertEquals(0, Inspection.of(path, Depth.CONTENT).arrays().getFirst().byteSize());
        Verification verified = Verification.run(Location.of(path), OpenOptions.DEFAULT, 1, Progress.NONE);
        assertTrue(verified.isGood(), () -> verified.faults().toString());
    }

    @Test
    void aSwappedFileOfLlmcIsRefusedByNameAndTokensThatBeginAlikeAreNot() throws IOException {
        for (int[] kind : new int[][] {{20240520, 1, 2}, {20240801, 7, 4}, {20240522, 1, 2}}) {
            byte[] file = llmc(kind[0], kind[1], 10, 10 * kind[2]);
            for (int wordBytes : new int[] {2, 4}) {
                byte[] swapped = file.clone();
                for (int i = 0; i + wordBytes <= swapped.length; i++) {
                    swapped[i] = file[i - i % wordBytes + wordBytes - 1 - i % wordBytes];
                }
                assertRefused(write("swapped.bin", swapped), "at byte 0: llm.c magic " + kind[0]
                        + " with its bytes swapped");
                assertRefused(write("cut.bin", Arrays.copyOf(swapped, 100)), "with its bytes swapped");
                swapped[1000] = 1;
                try (TokenStore store = TokenStore.open(write("tokens.bin", swapped))) {
                    assertEquals(swapped.length / 2, store.tokenCount());
                }
            }
        }
        byte[] other = llmc(Integer.reverseBytes(20251231), Integer.reverseBytes(9), 0, 20);
        assertRefused(write("other.bin", other), "unknown llm.c magic " + Integer.reverseBytes(20251231));
    }

    @Test
    void documentsWithoutATokenAreLegal() throws IOException {
        try (TokenStore store = TokenStore.open(datatrove(10, "gpt2|2", 0, 2, 2, 5, 5))) {
            assertEquals(5, store.documentCount());
            assertEquals(2, store.documentStart(2));
            assertEquals(2, store.documentStart(3));
            assertEquals(5, store.documentStart(5));
        }
    }

    @Test
    void aLossMaskHasAByteAToken() throws IOException {
        Path store = datatrove(10, "gpt2|2", 2, 5);
        for (int bytes : new int[] {0, 4, 6}) {
            write("x.ds.loss", new byte[bytes]);
            assertRefused(store, "x.ds.loss: at byte " + Math.min(5, bytes), "expected 5");
        }
        write("x.ds.loss", new byte[] {1, 0, 1, 0, 1});
        TokenStore.open(store).close();
    }

    @Test
    void aFingerprintChangesWithContentTypeAndDocuments() throws IOException {
        String first;
        try (TokenStore store = TokenStore.open(datatrove(20, "gpt2|2", 4, 10))) {
            first = store.fingerprint();
            assertTrue(first.matches("datatrove:u16:tokens=10:docs=2:sha256=[0-9a-f]{32}"), first);
        }
        try (TokenStore store = TokenStore.open(datatrove(20, "gpt2|2", 4, 10))) {
            assertEquals(first, store.fingerprint());
        }
        try (TokenStore store = TokenStore.open(datatrove(20, "gpt2|2", 5, 10))) {
            assertNotEquals(first, store.fingerprint());
        }
        byte[] changed = new byte[20];
        changed[13] = 1;
        datatrove(20, "gpt2|2", 4, 10);
        try (TokenStore store = TokenStore.open(write("x.ds", changed))) {
            assertNotEquals(first, store.fingerprint());
        }
    }

    @Test
    void namesWithControlCharactersStayOnOneLine() throws IOException {
        assertRefused(write("two\nlines.bin", new byte[3]), "two\\u000alines.bin");
    }

    private static OpenOptions told(String format, DType dtype) {
        return OpenOptions.DEFAULT.withFormat(format).withDType(dtype);
    }
}
