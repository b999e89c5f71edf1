// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Fixtures;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.StoreFormats;
import io.penstock.store.Truth;
import io.penstock.store.integrity.Verification;
import io.penstock.store.integrity.Verification.Fault;
import io.penstock.testing.Folders;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Environments that the library itself has written, and what becomes of them when they are damaged. */
class LmdbStoreTest {

    private static final OpenOptions LMDB = OpenOptions.DEFAULT.withFormat("lmdb");
    private static final int KEY = 0;
    private static final int VALUE = 1;

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> whatTheLibraryReadsIsReadTheSame() throws IOException {
        return Fixtures.entries("lmdb").filter(entry -> entry.expect().equals("read")).map(entry ->
                DynamicTest.dynamicTest(entry.toString(), () -> Truth.assertReadAs(entry.fields(), entry.path())));
    }

    @TestFactory
    Stream<DynamicTest> whatIsMalformedIsRefused() throws IOException {
        return Fixtures.entries("lmdb").filter(entry -> entry.expect().equals("reject")).map(entry ->
                DynamicTest.dynamicTest(entry.toString(), () -> Truth.assertRefused(entry.path())));
    }

    @TestFactory
    Stream<DynamicTest> keysOfAllOrdersValuesOfAllKindsAndPagesOfAllSizesAreRead() throws IOException {
        return Truth.entries("lmdb").filter(entry -> Files.exists(path(entry))).map(entry ->
                DynamicTest.dynamicTest((String) entry.get("path"), () -> Truth.assertReadAs(entry, path(entry))));
    }

    private static Path path(Map<String, Object> entry) {
        return Truth.written("lmdb").resolve((String) entry.get("path"));
    }

    @TestFactory
    Stream<DynamicTest> recordsAreWhereTheLibraryHasThem() throws IOException {
        return Fixtures.entries("lmdb").filter(entry -> entry.expect().equals("read")).map(entry ->
                DynamicTest.dynamicTest(entry.toString(), () -> {
                    for (Object each : Json.array(entry.fields().get("databases"))) {
                        assertSpots(entry.path(), Json.object(each));
                    }
                }));
    }

    private static void assertSpots(Path path, Map<String, Object> database) throws IOException {
        try (LmdbStore store = LmdbStore.open(Location.of(path), (String) database.get("db"))) {
            assertEquals(database.get("entries"), store.size());
            for (Object each : Json.array(database.get("spots"))) {
                Map<String, Object> spot = Json.object(each);
                long record = ((Number) spot.get("position")).longValue();
                assertBytes(Json.object(spot.get("key")), bytes(store, record, KEY));
                assertBytes(Json.object(spot.get("value")), bytes(store, record, VALUE));
            }
        }
    }

    private static void assertBytes(Map<String, Object> expected, byte[] found) {
        assertEquals(((Number) expected.get("len")).intValue(), found.length);
        if (expected.containsKey("sha256")) {
            assertEquals(expected.get("sha256"), HexFormat.of().formatHex(Sha256.digest().digest(found)));
        } else if (expected.containsKey("ascii")) {
            assertEquals(expected.get("ascii"), new String(found, StandardCharsets.US_ASCII));
        } else {
            assertEquals(expected.get("hex"), HexFormat.of().formatHex(found));
        }
    }

    private static byte[] bytes(RecordStore store, long record, int column) {
        Span span = new Span();
        store.locate(record, column, span);
        return span.slice().toArray(JAVA_BYTE);
    }

    @TestFactory
    Stream<DynamicTest> everyKeyIsFoundFromTheRootAndByPositionAndNoOtherKeyIs() throws IOException {
        return Stream.concat(Fixtures.entries("lmdb").filter(entry -> entry.expect().equals("read"))
                        .map(entry -> Map.entry(entry.path(), entry.fields())),
                Truth.entries("lmdb").filter(entry -> Files.exists(path(entry)))
                        .map(entry -> Map.entry(path(entry), entry)))
                .map(entry -> DynamicTest.dynamicTest(entry.getKey().getFileName().toString(), () -> {
                    for (Object database : Json.array(entry.getValue().get("databases"))) {
                        try (LmdbStore store = LmdbStore.open(Location.of(entry.getKey()),
                                (String) Json.object(database).get("db"))) {
                            assertKeysAreFound(store);
                        }
                    }
                }));
    }

    private static void assertKeysAreFound(LmdbStore store) {
        Span span = new Span();
        byte[] before = null;
        long first = 0;
        for (long record = 0; record < store.size(); record++) {
            byte[] key = bytes(store, record, KEY);
            first = Arrays.equals(key, before) ? first : record;
            before = key;
            assertEquals(first, store.find(MemorySegment.ofArray(key)));
            assertTrue(store.locate(MemorySegment.ofArray(key), span));
            assertArrayEquals(bytes(store, first, VALUE), span.slice().toArray(JAVA_BYTE));
            for (byte[] other : new byte[][] {Arrays.copyOf(key, key.length + 1), new byte[0],
                    Arrays.copyOf(key, key.length - 1), flipped(key, 0), flipped(key, key.length - 1)}) {
                MemorySegment absent = MemorySegment.ofArray(other);
                assertEquals(store.find(absent) >= 0, store.locate(absent, span));
                if (store.find(absent) >= 0) {
                    assertArrayEquals(other, bytes(store, store.find(absent), KEY));
                }
            }
        }
    }

    private static byte[] flipped(byte[] key, int at) {
        byte[] other = key.clone();
        other[at] ^= 0x55;
        return other;
    }

    @Test
    void valuesAreViewsOfTheFileLargeOnesToo() throws IOException {
        try (RecordStore store = RecordStore.open(Fixtures.path("lmdb/overflow"))) {
            Span span = new Span();
            for (long record = 0; record < store.size(); record++) {
                store.locate(record, VALUE, span);
                assertNotNull(span.file());
                assertTrue(span.byteSize() <= store.maxLength(VALUE));
            }
            assertFalse(store.isConverted(VALUE));
            assertEquals(8, store.maxLength(KEY));
            assertEquals("img-0003", store.name(3));
        }
    }

    @Test
    void aDatabaseIsChosenByItsNameAndSeveralWithoutOneToldAreAnErrorThatListsThem() throws IOException {
        Path path = Fixtures.path("lmdb/named");
        try (RecordStore train = RecordStore.open(path, OpenOptions.DEFAULT.withMember("train"));
                LmdbStore all = LmdbStore.open(Location.of(path), null);
                RecordStore only = RecordStore.open(Fixtures.path("lmdb/dupsort"))) {
            assertEquals(150, train.size());
            assertEquals("00000032", train.name(50));
            assertEquals(List.of("meta", "train", "val"), all.databases());
            String message = assertThrows(MalformedStoreException.class, all::size).getMessage();
            assertTrue(message.contains("3 databases, none selected, expected one of [meta, train, val]"), message);
            assertEquals(3, Json.array(all.inspect(Depth.CONTENT, Progress.NONE).details().get("databases")).size());
            assertEquals(1, Json.array(train.inspect(Depth.CONTENT, Progress.NONE).details().get("databases")).size());
            assertEquals(408, only.size());
        }
        String message = assertThrows(MalformedStoreException.class, () -> LmdbStore.open(Location.of(path),
                "test")).getMessage();
        assertTrue(message.contains("no database 'test', expected one of [meta, train, val]"), message);
    }

    @Test
    void theFolderTheFileInItAndAFileOfAnyNameAreTheSameEnvironment() throws IOException {
        Path data = Fixtures.path("lmdb/basic/data.mdb");
        Path other = Files.copy(data, folder.resolve("any.name"));
        assertEquals("lmdb", StoreFormats.recognize(Location.of(other)).name());
        assertEquals("lmdb", StoreFormats.recognize(Location.of(data.getParent())).name());
        for (Path path : List.of(data, data.getParent(), other)) {
            try (RecordStore store = RecordStore.open(path)) {
                assertEquals(500, store.size());
            }
        }
        assertEquals(List.of(other), Folders.files(folder));
    }

    @Test
    void bothMetaPagesMustBeWholeAsForTheLibrary() throws IOException {
        byte[] original = Files.readAllBytes(Fixtures.path("lmdb/basic/data.mdb"));
        Path path = folder.resolve("meta.mdb");
        for (int page : new int[] {0, 4096}) {
            byte[] file = original.clone();
            Arrays.fill(file, page + 16, page + 16 + 136, (byte) 0);
            assertTrue(refusal(path, file).contains("no meta page"));
            file = original.clone();
            file[page + 10] = 0;
            assertTrue(refusal(path, file).contains("a meta page with flags 0x0"));
            file = original.clone();
            file[page + 16 + 4] = 2;
            assertTrue(refusal(path, file).contains("version 2 of LMDB's data format"));
        }
        byte[] file = original.clone();
        MemorySegment.ofArray(file).set(LittleEndian.I32, 4096 + 16 + 24, 8192);
        assertTrue(refusal(path, file).contains("a second meta page that says pages have 8192 bytes, expected 4096"));
    }

    /** Written by the library: with records, with several databases, with deleted records, and without any. */
    @TestFactory
    Stream<DynamicTest> noPartOfAnEnvironmentIsTakenForAWhole() throws IOException {
        return Stream.of(Fixtures.path("lmdb/basic"), Fixtures.path("lmdb/named"), Fixtures.path("lmdb/overflow"),
                Truth.written("lmdb/empty"), Truth.written("lmdb/many_values"),
                Truth.written("lmdb/nested_transactions"), Truth.written("lmdb/pages_of_16k"))
                .map(path -> DynamicTest.dynamicTest(path.getFileName().toString(),
                        () -> assertNoPartIsRead(Files.readAllBytes(path.resolve("data.mdb")))));
    }

    private void assertNoPartIsRead(byte[] original) throws Exception {
        int pageBytes = MemorySegment.ofArray(original).get(LittleEndian.I32, 16 + 24);
        Path path = folder.resolve("part.mdb");
        String whole = digest(Files.write(path, original));
        for (int page = 0; page < original.length / pageBytes; page++) {
            for (int more : page < 3 ? new int[] {0, 1, 10, 16, 24, 151, 152, 153, pageBytes / 2, pageBytes - 1}
                    : new int[] {0, 200, pageBytes - 1}) {
                int length = page * pageBytes + more;
                Files.write(path, Arrays.copyOf(original, length));
                try {
                    // Pages at the end may be free, and were perhaps never written.
                    assertEquals(whole, digest(path), "cut to " + length + " bytes");
                    assertTrue(page >= 2, "cut to " + length + " bytes");
                } catch (MalformedStoreException e) {
                    assertTrue(e.getMessage().contains("part.mdb"), e.getMessage());
                    assertFalse(page < 4 && Verification.run(Location.of(path), LMDB, 1, Progress.NONE).isGood());
                }
            }
        }
    }

    private static String digest(Path path) throws IOException {
        try (LmdbStore store = LmdbStore.open(Location.of(path), null)) {
            return Json.write(store.inspect(Depth.CONTENT, Progress.NONE).details());
        }
    }

    private static String refusal(Path path, byte[] file) throws IOException {
        Files.write(path, file);
        String message = assertThrows(MalformedStoreException.class, () -> LmdbStore.open(Location.of(path),
                null)).getMessage();
        assertTrue(message.contains(path.toString()) && !message.contains("\n"), message);
        return message;
    }

    @Test
    void aFileMayEndBeforePagesThatNoTreeHasButNotBeforeOthers() throws IOException {
        byte[] file = Files.readAllBytes(Fixtures.path("lmdb/basic/data.mdb"));
        MemorySegment meta = MemorySegment.ofArray(file);
        meta.set(LittleEndian.I64, 4096 + 16 + 120, meta.get(LittleEndian.I64, 4096 + 16 + 120) + 3);
        Path path = Files.write(folder.resolve("ends.mdb"), file);
        try (RecordStore store = RecordStore.open(path)) {
            assertEquals(500, store.size());
        }
        Files.write(path, Arrays.copyOf(file, file.length - 1));
        String message = Truth.assertRefused(path);
        assertTrue(message.contains("the file ends, but page 33") && message.contains("is it cut?"), message);
    }

    @Test
    void aTreeThatLeadsBackIntoItselfIsRefused() throws IOException {
        byte[] file = Files.readAllBytes(Fixtures.path("lmdb/basic/data.mdb"));
        MemorySegment bytes = MemorySegment.ofArray(file);
        long root = bytes.get(LittleEndian.I64, 4096 + 16 + 72 + 40);
        int pointer = bytes.get(LittleEndian.I16, root * 4096 + 18);
        long other = bytes.get(LittleEndian.I16, root * 4096 + bytes.get(LittleEndian.I16, root * 4096 + 16)) & 0xFFFF;
        bytes.set(LittleEndian.I16, root * 4096 + pointer, (short) other);
        Path path = Files.write(folder.resolve("twice.mdb"), file);
        assertTrue(Truth.assertRefused(path).contains("page " + other + " a second time"));

        bytes.set(LittleEndian.I16, root * 4096 + pointer, (short) root);
        Files.write(path, file);
        assertTrue(Truth.assertRefused(path).contains("a leaf"));
    }

    @Test
    void theHeaderOfAnOverflowPageIsForAVerificationAloneAsReadersHaveNoNeedOfIt() throws Exception {
        byte[] file = Files.readAllBytes(Fixtures.path("lmdb/overflow/data.mdb"));
        Path path = Files.write(folder.resolve("large.mdb"), file);
        String whole = digest(path);
        assertTrue(Verification.run(Location.of(path), OpenOptions.DEFAULT, 1, Progress.NONE).isGood());
        long page;
        try (LmdbStore store = LmdbStore.open(Location.of(path), null)) {
            Span span = new Span();
            store.locate(0, VALUE, span);
            page = span.byteOffset() - 16;
        }
        file[(int) page + 10] ^= 4;
        Files.write(path, file);
        assertEquals(whole, digest(path));
        List<Fault> faults = Verification.run(Location.of(path), OpenOptions.DEFAULT, 1, Progress.NONE).faults();
        assertEquals(1, faults.size());
        assertEquals("page headers", faults.getFirst().check());
        assertTrue(faults.getFirst().message().contains("at byte " + page + ": flags 0x0, 2 pages, expected overflow"
                + " pages for 8175 bytes"), faults.getFirst().message());
    }

    @Test
    void aDamagedDatabaseBesideTheMainOneIsARefusedEnvironmentUnlessAnotherIsTold() throws IOException {
        byte[] file = Files.readAllBytes(Fixtures.path("lmdb/named/data.mdb"));
        Path path = folder.resolve("named.mdb");
        int damaged = 0;
        for (int at = 2 * 4096; at < file.length; at += 4096) {
            byte[] broken = file.clone();
            broken[at + 10] ^= 0x40;
            Files.write(path, broken);
            boolean opens = opens(path, null);
            damaged += !opens && (opens(path, "meta") || opens(path, "train") || opens(path, "val")) ? 1 : 0;
            try (LmdbStore store = opens ? LmdbStore.open(Location.of(path), null) : null) {
                if (store != null) {
                    store.inspect(Depth.CONTENT, Progress.NONE);
                }
            }
        }
        assertTrue(damaged > 5);
    }

    private static boolean opens(Path path, String database) throws IOException {
        try (LmdbStore _ = LmdbStore.open(Location.of(path), database)) {
            return true;
        } catch (MalformedStoreException _) {
            return false;
        }
    }

    @Test
    void entriesAreCountedAgainstTheRecordOfTheTree() throws IOException {
        byte[] file = Files.readAllBytes(Fixtures.path("lmdb/basic/data.mdb"));
        MemorySegment.ofArray(file).set(LittleEndian.I64, 4096 + 16 + 72 + 32, 501);
        Path path = Files.write(folder.resolve("count.mdb"), file);
        assertTrue(Truth.assertRefused(path).contains("500 entries in the main database, expected 501"));
    }

    @Test
    void aDepthThatNoTreeHasIsRefused() throws IOException {
        for (int depth : new int[] {0, 1, 3, 33, 65535}) {
            byte[] file = Files.readAllBytes(Fixtures.path("lmdb/basic/data.mdb"));
            MemorySegment.ofArray(file).set(LittleEndian.I16, 4096 + 16 + 72 + 6, (short) depth);
            Truth.assertRefused(Files.write(folder.resolve("depth.mdb"), file));
        }
    }

    @Test
    void aRecordThatIsNotThereIsAnErrorThatNamesTheFile() throws IOException {
        try (RecordStore store = RecordStore.open(Fixtures.path("lmdb/basic"))) {
            for (long record : new long[] {-1, 500, Long.MAX_VALUE, Long.MIN_VALUE}) {
                String message = assertThrows(IndexOutOfBoundsException.class,
                        () -> store.locate(record, KEY, new Span())).getMessage();
                assertTrue(message.contains("data.mdb") && message.contains("500"), message);
            }
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(0, 2, new Span()));
        }
    }

    @Test
    void locatingAllocatesNothing() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (String name : List.of("many_values", "kinds_of_keys")) {
            try (LmdbStore store = LmdbStore.open(Location.of(Truth.written("lmdb/" + name)),
                    name.equals("many_values") ? "mixed" : "d-longest")) {
                Span span = new Span();
                MemorySegment key = MemorySegment.ofArray(bytes(store, 5, KEY));
                long fewest = Long.MAX_VALUE;
                for (int window = 0; window < 1_000 && fewest > 0; window++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    for (int i = 0; i < 20_000; i++) {
                        store.locate(i % store.size(), i & 1, span);
                        store.locate(key, span);
                    }
                    fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
                }
                assertEquals(0, fewest, name);
            }
        }
    }

    @Tag("slow")
    @Test
    void damagedEnvironmentsAreReadOrRefused() throws IOException {
        long seed = Long.getLong("penstock.fuzz.seed", 20261121);
        SplittableRandom random = new SplittableRandom(seed);
        Path path = folder.resolve("damaged.mdb");
        for (String name : List.of("many_values", "kinds_of_keys", "nested_transactions")) {
            byte[] original = Files.readAllBytes(Truth.written("lmdb/" + name + "/data.mdb"));
            for (int i = 0; i < Thorough.times(50, 150); i++) {
                byte[] file = original.clone();
                for (int change = random.nextInt(4); change >= 0; change--) {
                    int page = random.nextInt(file.length >> 12) << 12;
                    int at = page + random.nextInt(random.nextBoolean() ? 64 : 4096);
                    file[at] = (byte) (random.nextBoolean() ? random.nextInt() : file[at] ^ 1 << random.nextInt(8));
                }
                Files.write(path, file);
                try {
                    Inspection.of(path, Depth.CONTENT);
                } catch (IOException | PenstockException e) {
                    assertTrue(e.getMessage().contains("damaged.mdb") && !e.getMessage().contains("\n"),
                            e.getMessage());
                } catch (RuntimeException | Error e) {
                    throw new AssertionError("seed " + seed + ", " + name + ", input " + i, e);
                }
            }
        }
    }
}
