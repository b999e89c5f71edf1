// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.dataset.TensorRows;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.StoreFormats;
import io.penstock.store.TensorStore;
import io.penstock.store.integrity.Verification;
import io.penstock.testing.Fields;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class Hdf5StoreTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int COLUMNS = 16384;

    @TempDir
    private Path folder;

    private static int indexOf(TensorStore store, String name) {
        return store.tensors().stream().map(TensorSpec::name).toList().indexOf(name);
    }

    private static List<String> names(Path file, String member) throws IOException {
        try (TensorStore store = TensorStore.open(file, OpenOptions.DEFAULT.withMember(member))) {
            return store.tensors().stream().map(TensorSpec::name).toList();
        }
    }

    @Test
    void whatIsInOnePieceAndLittleEndianIsAViewOfTheFileAndAnythingElseSaysThatItIsDecoded() throws IOException {
        try (TensorStore store = TensorStore.open(Hdf5FixturesTest.own("kinds_old.h5"))) {
            for (String name : List.of("/compact_le", "/group/x", "/colours", "/scalar", "/no_columns")) {
                int index = indexOf(store, name);
                Span span = new Span();
                store.locate(index, 0, 1, span);
                assertFalse(store.isConverted(index), name);
                assertNotNull(span.file(), name);
                assertEquals(Location.of(Hdf5FixturesTest.own("kinds_old.h5")), span.file().location());
            }
            for (String name : List.of("/compact_be", "/flags", "/never_written", "/scalar_be")) {
                assertTrue(store.isConverted(indexOf(store, name)), name);
            }
            assertNotNull(store.rows(indexOf(store, "/group/x")));
            assertNull(store.rows(indexOf(store, "/flags")));
        }
    }

    @Test
    void aMemberIsAGroupOrADatasetByAnyPathThatLeadsToIt() throws IOException {
        Path file = Hdf5FixturesTest.own("kinds_latest.h5");
        assertEquals(List.of("/group/x"), names(file, "/group").stream().filter(n -> !n.contains("circle")).toList());
        assertEquals(List.of("/soft/x"), names(file, "soft").stream().filter(n -> !n.contains("circle")).toList());
        assertEquals(List.of("/group/up"), names(file, "/group/up"));
        assertEquals(List.of("/scalar"), names(file, "//scalar/"));
        assertEquals(names(file, null), names(file, "/"));
        for (String missing : List.of(
                "/nowhere", "/dangling", "/elsewhere", "/scalar/x", "/group/no", "/group/../scalar")) {
            String message = assertThrows(MalformedStoreException.class, () -> names(file, missing)).getMessage();
            assertTrue(message.contains("kinds_latest.h5"), message);
        }
        assertTrue(assertThrows(MalformedStoreException.class, () -> names(file, "group/no")).getMessage()
                .contains("no 'no' on the way to /group/no, expected a path of groups that ends at an object of this"
                        + " file, as in ["));
        assertTrue(assertThrows(MalformedStoreException.class, () -> names(file, "group/no")).getMessage()
                .contains("x"));
        for (String other : List.of("/strings", "/compounds", "/null")) {
            assertTrue(assertThrows(MalformedStoreException.class, () -> names(file, other)).getMessage()
                    .contains(other));
        }
    }

    @Test
    void aGroupWhoseTensorsHaveEquallyManyRowsIsADatasetOfFields() throws IOException {
        try (TensorStore store = TensorStore.open(Hdf5FixturesTest.own("bands.h5"))) {
            TensorRows rows = TensorRows.of(store);
            assertEquals(24, rows.size());
            assertEquals(List.of(new TensorSpec("/images", DType.I16, COLUMNS), new TensorSpec("/labels", DType.I32)),
                    rows.fields());
            Span span = new Span();
            Fields.locate(rows, 7, 0, span);
            assertEquals(703, span.segment().get(LittleEndian.I16, span.byteOffset() + 2 * 3));
            assertNull(rows.source(0).rows());
        }
    }

    @Test
    void whatIsNotReadIsListedWithTheReasonAndTheRestIsReadInspectedAndVerified() throws Exception {
        Path file = Hdf5FixturesTest.own("refused.h5");
        try (TensorStore store = TensorStore.open(file)) {
            assertEquals(List.of("/read"), store.tensors().stream().map(TensorSpec::name).toList());
            assertEquals(0, store.tensor(indexOf(store, "/read")).getLong(0));
            assertEquals("the filter scaleoffset is not supported", store.unread().get("/scaled"));
            assertEquals("its elements are in external files", store.unread().get("/outside"));
        }
        try (TensorStore store = TensorStore.open(Hdf5FixturesTest.own("virtual.h5"))) {
            assertTrue(store.unread().get("/virtual").contains("virtual dataset"));
        }
        Inspection inspection = Inspection.of(file, Depth.CONTENT);
        assertEquals(List.of("/read"), inspection.arrays().stream().map(Inspection.Array::name).toList());
        String others = Json.write(inspection.details().get("other_datasets"));
        assertTrue(others.contains("\"/scaled\",\"stored_as\":\"<i4\",\"shape\":[100],\"refused\":\"the filter"),
                others);
        assertTrue(Verification.run(Location.of(file), OpenOptions.DEFAULT, 1, Progress.NONE).isGood());
        String message = assertThrows(MalformedStoreException.class, () -> names(file, "/scaled")).getMessage();
        assertTrue(message.contains("/scaled: the filter scaleoffset is not supported"), message);
    }

    /** Bytes of the chunks of the last rows are destroyed: the first rows are read all the same. */
    @Test
    void locatingRowsDecodesTheirChunksAloneAndAnErrorNamesFileDatasetAndChunk() throws IOException {
        byte[] bytes = Files.readAllBytes(Hdf5FixturesTest.own("bands.h5"));
        Path file = folder.resolve("bad.h5");
        Chunk last;
        try (var store = MappedFile.open(Hdf5FixturesTest.own("bands.h5"))) {
            Superblock superblock = Superblock.read(store);
            StoredDataset images = ObjectTree.read(superblock, "/images").datasets().getFirst();
            ChunkIndex index = ChunkIndex.read(superblock.space(), (Layout.Chunked) images.layout(), images.grid(),
                    true);
            assertEquals(24, index.count());
            last = index.chunk(23);
        }
        for (int i = 2; i < last.byteSize(); i++) {
            bytes[(int) last.position() + i] ^= 0x5A;
        }
        Files.write(file, bytes);
        try (TensorStore store = TensorStore.open(file)) {
            Span span = new Span();
            for (long row = 0; row < 20; row++) {
                store.locate(0, row, 1, span);
                assertEquals(row * 100 + 6, span.segment().get(LittleEndian.I16, span.byteOffset() + 2 * 6));
            }
            for (int attempt = 0; attempt < 2; attempt++) {
                String message = assertThrows(MalformedStoreException.class, () -> store.locate(0, 20, 1, span))
                        .getMessage();
                assertTrue(message.contains("bad.h5: at byte " + last.position())
                        && message.contains("chunk 23 of /images: deflate"), message);
            }
            assertThrows(MalformedStoreException.class, () -> store.tensor(0));
            store.locate(0, 16, 4, span);
            assertEquals(4 * 2 * COLUMNS, span.byteSize());
        }
    }

    @Test
    void aFletcherChecksumThatDoesNotFitIsAnError() throws IOException {
        byte[] bytes = Files.readAllBytes(Hdf5FixturesTest.own("indexes_old.h5"));
        Chunk chunk;
        try (var mapped = MappedFile.open(Hdf5FixturesTest.own("indexes_old.h5"))) {
            Superblock superblock = Superblock.read(mapped);
            StoredDataset fixed = ObjectTree.read(superblock, "/fletcher/fixed").datasets().getFirst();
            chunk = ChunkIndex.read(superblock.space(), (Layout.Chunked) fixed.layout(), fixed.grid(), true).chunk(3);
        }
        bytes[(int) chunk.position() + 17] ^= 1;
        Path file = folder.resolve("x.h5");
        Files.write(file, bytes);
        try (TensorStore store = TensorStore.open(file, OpenOptions.DEFAULT.withMember("/fletcher/fixed"))) {
            assertTrue(assertThrows(MalformedStoreException.class, () -> store.tensor(0)).getMessage()
                    .contains("chunk 3 of /fletcher/fixed: fletcher32: checksum"));
        }
    }

    @Test
    void anyNumberOfThreadsMayLocateTheSameRowsWhileTheyAreDecoded() throws Exception {
        try (TensorStore store = TensorStore.open(Hdf5FixturesTest.own("bands.h5"));
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<?>> runs = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                SplittableRandom random = new SplittableRandom(t);
                runs.add(threads.submit(() -> {
                    Span span = new Span();
                    for (int i = 0; i < 200; i++) {
                        long row = random.nextLong(24);
                        int column = random.nextInt(COLUMNS);
                        store.locate(0, row, 1, span);
                        assertEquals(row * 100 + column % 7,
                                span.segment().get(LittleEndian.I16, span.byteOffset() + 2L * column));
                    }
                }));
            }
            for (Future<?> run : runs) {
                run.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        }
    }

    @Test
    void locatingAllocatesNothingInPlaceAndOnceDecoded() throws IOException {
        try (TensorStore in = TensorStore.open(Hdf5FixturesTest.own("kinds_old.h5"),
                    OpenOptions.DEFAULT.withMember("/compact_le"));
                TensorStore out = TensorStore.open(Hdf5FixturesTest.own("bands.h5"))) {
            out.tensor(0);
            Span span = new Span();
            long thread = Thread.currentThread().threadId();
            long allocated = Long.MAX_VALUE;
            for (int window = 0; window < 1_000 && allocated > 1000; window++) {
                long before = THREADS.getThreadAllocatedBytes(thread);
                for (int i = 0; i < 10_000; i++) {
                    in.locate(0, i % 4, 1, span);
                    out.locate(0, i % 24, 1, span);
                }
                allocated = THREADS.getThreadAllocatedBytes(thread) - before;
            }
            assertTrue(allocated <= 1000, allocated + " bytes in 10,000 rounds");
        }
    }

    @Test
    void aFileThatShrinksWhileItIsOpenGivesAnErrorThatNamesIt() throws IOException {
        Path file = folder.resolve("short.h5");
        Files.copy(Hdf5FixturesTest.own("indexes_old.h5"), file);
        try (TensorStore store = TensorStore.open(file)) {
            try (RandomAccessFile truncated = new RandomAccessFile(file.toFile(), "rw")) {
                truncated.setLength(8192);
            }
            int last = store.tensors().size() - 1;
            String message = assertThrows(UncheckedIOException.class, () -> {
                for (int i = 0; i <= last; i++) {
                    store.tensor(i);
                }
            }).getMessage();
            assertTrue(message.contains("short.h5") && message.contains("8192"), message);
            assertTrue(assertThrows(IOException.class,
                    () -> Inspection.of(Location.of(file), store, Depth.CONTENT,
                    Progress.NONE)).getMessage().contains("short.h5"));
        }
    }

    @Test
    void aFingerprintTellsFilesAndMembersApart() throws IOException {
        Path file = Hdf5FixturesTest.own("kinds_old.h5");
        try (TensorStore all = TensorStore.open(file);
                TensorStore again = TensorStore.open(file);
                TensorStore one = TensorStore.open(file, OpenOptions.DEFAULT.withMember("/scalar"))) {
            assertEquals(all.fingerprint(), again.fingerprint());
            assertNotEquals(all.fingerprint(), one.fingerprint());
            assertEquals("hdf5", StoreFormats.recognize(Location.of(file)).name());
        }
        assertEquals("hdf5", StoreFormats.recognize(Location.of(Hdf5FixturesTest.own("user_block_latest.h5"))).name());
    }
}
