// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.reading.BlockVerifier;
import io.penstock.dataset.reading.VerifiedReads;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.format.npy.NpyWriter;
import io.penstock.format.safetensors.SafetensorsWriter;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.io.SparseFiles;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.store.integrity.Verification;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store whose files are fetched range by range is read as the local one is, bit by bit, and fetches what is read. Any
 * byte that is read and was not required is {@link SparseFiles#POISON}, and would differ.
 */
class SparseStoreTest {

    @TempDir
    private Path folder;

    @TestFactory
    Stream<DynamicTest> everyFormatReadsFetchedFilesAsItReadsLocalOnes() throws IOException {
        return Fixtures.entries("megatron", "llmc", "nanogpt", "datatrove", "npy", "npz", "safetensors", "hdf5",
                "arrow",
                "parquet", "lmdb", "mds", "webdataset", "images", "raw").map(entry ->
                DynamicTest.dynamicTest(entry.kind() + " " + entry, () -> assertSame(entry)));
    }

    private void assertSame(Entry entry) throws Exception {
        SparseFiles source = new SparseFiles(folder);
        String expected = StoreContent.read(Location.of(entry.path()));
        assertEquals(expected, StoreContent.read(source.of(entry.path())).replace("test://", ""));
        assertEquals(0, source.openFiles());
    }

    private Path corpus(int documents) throws IOException {
        Path prefix = folder.resolve("corpus");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16,
                IfExists.FAIL); MegatronPart part = writer.part()) {
            int[] tokens = new int[1000];
            for (int document = 0; document < documents; document++) {
                for (int i = 0; i < tokens.length; i++) {
                    tokens[i] = (document * 31 + i) % 50_000;
                }
                part.append(tokens, 0, tokens.length);
                part.endDocument();
            }
            writer.commit();
        }
        return prefix;
    }

    @Test
    void openingAStoreOfTokensFetchesItsIndexAndNoToken() throws IOException {
        Path prefix = corpus(500);
        Path tokens = folder.resolve("corpus.bin");
        SparseFiles source = new SparseFiles(folder);
        try (Store store = Store.open(source.of(prefix), OpenOptions.DEFAULT); SpanReader reader =
                new SpanReader(ReadMode.AUTO); Arena arena = Arena.ofConfined()) {
            assertEquals(0, source.fetchedBytes(tokens));
            Span span = new Span();
            ((TokenStore) store).locate(123_456, 1024, span);
            assertEquals(0, source.fetchedBytes(tokens));
            reader.copy(span, arena.allocate(2048), 0);
            assertTrue(source.fetchedBytes(tokens) >= 2048 && source.fetchedBytes(tokens) <= 2048 + 128,
                    source.fetchedBytes(tokens) + " bytes");
        }
        assertEquals(0, source.openFiles());
    }

    @Test
    void openingAFileOfArraysOrTablesFetchesWhatDescribesItsData() throws IOException {
        Tensor numbers = Tensor.of(Arena.ofAuto().allocate(1 << 20, Long.BYTES), DType.I64, 1 << 17);
        Path npy = folder.resolve("numbers.npy");
        Path safetensors = folder.resolve("numbers.safetensors");
        NpyWriter.write(npy, numbers, IfExists.FAIL);
        SafetensorsWriter.write(safetensors, Map.of("numbers", numbers), Map.of(), IfExists.FAIL);
        List<Path> files = new ArrayList<>(List.of(npy, safetensors));
        for (Entry entry : Fixtures.entries("llmc", "nanogpt", "parquet", "arrow").toList()) {
            if (entry.expect().equals("read") && Files.isRegularFile(entry.path())
                    && Files.size(entry.path()) > 20_000) {
                files.add(entry.path());
            }
        }
        List<String> much = new ArrayList<>();
        for (Path file : files) {
            SparseFiles source = new SparseFiles(folder);
            try (Store _ = Store.open(source.of(file), OpenOptions.DEFAULT)) {
                if (source.fetchedBytes(file) > Files.size(file) / 2) {
                    much.add(file + ": " + source.fetchedBytes(file) + " of " + Files.size(file));
                }
            }
        }
        assertEquals(List.of(), much);
    }

    @Test
    void fetchedBlocksAreVerifiedAsLocalOnesAre() throws Exception {
        Path prefix = corpus(20);
        Path tokens = folder.resolve("corpus.bin");
        byte[] bytes = Files.readAllBytes(tokens);
        bytes[12_345] ^= 1;
        Files.write(tokens, bytes);
        SparseFiles source = new SparseFiles(folder);
        Verification found = Verification.run(source.of(prefix), OpenOptions.DEFAULT, 2, Progress.NONE);
        assertEquals(Verification.run(Location.of(prefix), OpenOptions.DEFAULT, 2, Progress.NONE).faults().toString(),
                found.faults().toString().replace("test://", "").replace(source.toString(), ""));
        try (Store store = Store.open(source.of(prefix), OpenOptions.DEFAULT); SpanReader reader =
                new SpanReader(ReadMode.AUTO); BlockVerifier verifier = new BlockVerifier(new VerifiedReads(),
                reader)) {
            Span span = new Span();
            ((TokenStore) store).locate(12_340 / 2, 8, span);
            String message = assertThrows(MalformedStoreException.class, () -> verifier.check(span)).getMessage();
            assertTrue(message.contains("test://") && message.contains("corpus.bin" + BlockChecksums.SUFFIX), message);
        }
    }

    @Test
    void aFormatOfLocalFilesSaysSo() throws IOException {
        Path files = Files.createDirectories(folder.resolve("files"));
        Files.writeString(files.resolve("a.txt"), "a");
        Location there = new SparseFiles(folder).of(files);
        String message = assertThrows(UnsupportedOperationException.class,
                () -> Store.open(there, OpenOptions.DEFAULT.withFormat("files"))).getMessage();
        assertEquals(there + ": the format files reads only local files; copy it to a local disk first", message);
    }

    @Test
    void theFingerprintOfFetchedFilesIsOfTheirVersionsAndFetchesNothing() throws IOException {
        Path prefix = corpus(100);
        Path tokens = folder.resolve("corpus.bin");
        SparseFiles source = new SparseFiles(folder);
        String before;
        try (Store store = Store.open(source.of(prefix), OpenOptions.DEFAULT)) {
            before = store.fingerprint();
            assertEquals(before, store.fingerprint());
            assertEquals(0, source.fetchedBytes(tokens));
        }
        Files.setLastModifiedTime(tokens, FileTime.fromMillis(0));
        try (Store store = Store.open(source.of(prefix), OpenOptions.DEFAULT)) {
            assertNotEquals(before, store.fingerprint());
        }
    }

    @Test
    @SuppressWarnings("try") // the local one shall only be open
    void aStoreIsOpenedByTheSchemeOfItsUri() throws IOException {
        Path npy = Fixtures.entries("npy").filter(entry -> entry.expect().equals("read")).findFirst().orElseThrow()
                .path();
        try (Store local = Store.open(npy.toUri()); Store fetched = Store.open(URI.create("test://" + npy))) {
            assertEquals(StoreContent.read(Location.of(npy)), StoreContent.read(
                    Location.of(URI.create("test://" + npy))).replace("test://", ""));
            assertTrue(fetched.toString().startsWith("test://"), fetched.toString());
        }
        assertEquals("ftp://host/x.npy: unknown scheme 'ftp', expected file or test",
                assertThrows(IllegalArgumentException.class, () -> Store.open(URI.create("ftp://host/x.npy")))
                        .getMessage());
    }
}
