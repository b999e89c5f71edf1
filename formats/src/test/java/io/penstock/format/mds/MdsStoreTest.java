// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.Zstd;
import com.sun.management.ThreadMXBean;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.Rows;
import io.penstock.store.StoreFormats;
import io.penstock.store.Truth;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datasets that the library has written, others by its published layout, and what becomes of them when damaged. */
class MdsStoreTest {

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> whatTheLibraryReadsIsReadTheSame() throws IOException {
        return Fixtures.entries("mds").filter(entry -> entry.expect().startsWith("read")).map(entry ->
                DynamicTest.dynamicTest(entry.toString(), () -> Truth.assertReadAs(entry.fields(), entry.path())));
    }

    @TestFactory
    Stream<DynamicTest> whatIsMalformedIsRefused() throws IOException {
        return Fixtures.entries("mds").filter(entry -> entry.expect().equals("reject")).map(entry ->
                DynamicTest.dynamicTest(entry.toString(), () -> Truth.assertRefused(entry.path())));
    }

    @TestFactory
    Stream<DynamicTest> allEncodingsCompressedOrNotInOneFolderOrMoreAreRead() throws IOException {
        return Truth.entries("mds").map(entry -> DynamicTest.dynamicTest((String) entry.get("path"),
                () -> Truth.assertReadAs(entry, Truth.written("mds").resolve((String) entry.get("path")))));
    }

    @Test
    void columnsAreNumbersTextOrBytesByTheirEncoding() throws IOException {
        try (RecordStore store = RecordStore.open(Truth.written("mds/scalars"))) {
            Map<String, Column> columns = store.columns().stream().collect(
                    java.util.stream.Collectors.toMap(Column::name, column -> column));
            assertEquals(Column.numbers("i", DType.I64), columns.get("i"));
            assertEquals(Column.numbers("c_float16", DType.F16), columns.get("c_float16"));
            assertEquals(Column.numbers("image", DType.U8, 2, 3, 4), columns.get("image"));
            assertEquals(Column.text("text", "str"), columns.get("text"));
            assertEquals(Column.text("js", "json"), columns.get("js"));
            assertEquals(Column.bytes("jpeg", "jpeg"), columns.get("jpeg"));
            assertEquals(Column.bytes("blob", ""), columns.get("blob"));
            assertEquals("shard.00001.mds[3]", store.name(13));
        }
        try (RecordStore store = RecordStore.open(Truth.written("mds/arrays/index.json"))) {
            assertEquals(List.of("ndarray", "ndarray:float32", ""),
                    store.columns().stream().map(Column::encoding).toList());
        }
    }

    @Test
    void plainShardsAreViewsAlsoWhereThereAreCompressedOnesBeside() throws IOException {
        Span span = new Span();
        try (RecordStore plain = RecordStore.open(Truth.written("mds/zstd_and_raw"));
                RecordStore packed = RecordStore.open(Truth.written("mds/gzipped"))) {
            assertFalse(plain.isConverted(0));
            assertTrue(packed.isConverted(0));
            for (long sample = 0; sample < plain.size(); sample++) {
                for (int column = 0; column < plain.columns().size(); column++) {
                    plain.locate(sample, column, span);
                    assertNotNull(span.file());
                    byte[] value = bytes(span);
                    packed.locate(sample, column, span);
                    assertEquals(-1, Arrays.mismatch(value, bytes(span)));
                }
            }
        }
    }

    private static byte[] bytes(Span span) {
        return span.slice().toArray(JAVA_BYTE);
    }

    private Object shard(String name, SortedMap<String, String> columns, String... values)
            throws IOException {
        try (MdsShardWriter shard = MdsShardWriter.create(folder.resolve(name), columns)) {
            shard.write(Arrays.stream(values).map(value -> MemorySegment.ofArray(value.getBytes(
                    StandardCharsets.UTF_8))).toList());
            return Json.parse(shard.commit(name));
        }
    }

    @Test
    void columnsOfShardsAreMatchedByNameAndAShardMayLackSome() throws IOException {
        List<Object> shards = new ArrayList<>(List.of(
                shard("shard.00000.mds", new TreeMap<>(Map.of("m", "str", "t", "bytes")), "one", "a"),
                shard("shard.00001.mds", new TreeMap<>(Map.of("a", "str", "m", "str", "t", "bytes")), "new", "two",
                        "b"),
                shard("shard.00002.mds", new TreeMap<>(Map.of("m", "str")), "three")));
        Path index = Files.writeString(folder.resolve("index.json"),
                Json.write(Map.of("version", 2, "shards", shards)));
        try (RecordStore store = RecordStore.open(index)) {
            assertEquals(Map.of("m", List.of("one", "two", "three"), "t", Arrays.asList("61", "62", null),
                    "a", Arrays.asList(null, "new", null)), Rows.of(store));
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(2, 1, new Span()))
                    .getMessage();
            assertTrue(message.contains("shard.00002.mds: at byte ")
                    && message.contains("no value of 't': the shard has no such column"), message);
        }
        assertEquals(3L, Inspection.of(index, Inspection.Depth.CONTENT).details().get("samples"));
        shards.add(shard("shard.00003.mds", new TreeMap<>(Map.of("m", "bytes")), "four"));
        Files.writeString(index, Json.write(Map.of("version", 2, "shards", shards)));
        assertTrue(assertThrows(MalformedStoreException.class, () -> RecordStore.open(index)).getMessage()
                .contains("shard 3 with column 'm' of bytes, expected str, as the shards before have"));
        shards.set(3, shard("shard.00004.mds", new TreeMap<>(Map.of("x", "str")), "four"));
        Files.writeString(index, Json.write(Map.of("version", 2, "shards", shards)));
        assertTrue(assertThrows(MalformedStoreException.class, () -> RecordStore.open(index)).getMessage()
                .contains("shard 3 with the columns [x], expected at least one of [m, t, a]"));
    }

    @Test
    void digestsOfTheIndexThatMatchAreNoFaults() throws IOException {
        for (Path path : List.of(Truth.written("mds/scalars"), Truth.written("mds/merged"),
                Fixtures.path("mds/tokens_zstd"))) {
            assertEquals(List.of(), faults(path));
        }
    }

    @Test
    void everyDigestOfTheIndexIsChecked() throws IOException {
        assertEquals(16, changedDigests("scalars"));
        // Of the shards of this index, one has a digest of an algorithm that the JDK lacks too.
        assertEquals(5, changedDigests("merged"));
    }

    /** Changes every digest in a copy of an index; returns the faults found. */
    private int changedDigests(String name) throws IOException {
        Path copy = folder.resolve(name);
        try (Stream<Path> files = Files.walk(Truth.written("mds/" + name))) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(Truth.written("mds/" + name).relativize(file).toString()));
            }
        }
        Path index = copy.resolve("index.json");
        Files.writeString(index, Files.readString(index).replaceAll("\": *\"[0-9a-f]{8,}\"", "\": \"00\""));
        return faults(copy).size();
    }

    private static List<String> faults(Path path) throws IOException {
        List<String> messages = new ArrayList<>();
        try (MdsStore store = MdsStore.open(Location.of(path), null)) {
            store.verify(fault -> messages.add(fault.message()), Progress.NONE);
        }
        return messages;
    }

    @Test
    void aDigestThatDiffersIsAFaultThatNamesTheFileAndTheAlgorithm() throws IOException {
        List<String> messages = faults(Fixtures.path("mds/ror_hash_mismatch"));
        assertTrue(messages.getFirst().contains("shard.00001.mds: sha1 "), messages.toString());
    }

    @Test
    void theXxHashOfPiecesIsThatOfTheWhole() {
        // From the test vectors of the reference implementation: seed 0, "" and "a" and "abc".
        assertEquals(0xEF46DB3751D8E999L, hash(new byte[0], 1));
        assertEquals(0xD24EC4F1A98C6E5BL, hash("a".getBytes(StandardCharsets.US_ASCII), 1));
        assertEquals(0x44BC2CF5AD770999L, hash("abc".getBytes(StandardCharsets.US_ASCII), 1));
        byte[] bytes = new byte[1000];
        new SplittableRandom(3).nextBytes(bytes);
        for (int length = 0; length < 200; length++) {
            byte[] some = Arrays.copyOf(bytes, length);
            for (int step : new int[] {1, 7, 31, 32, 33, 64}) {
                assertEquals(hash(some, 1000), hash(some, step));
            }
        }
    }

    private static long hash(byte[] bytes, int step) {
        Xxh64 hash = new Xxh64(0);
        for (int at = 0; at < bytes.length; at += step) {
            hash.update(bytes, at, Math.min(step, bytes.length - at));
        }
        return hash.value();
    }

    @Test
    void aPickleIsRefusedAndTheOtherColumnsAreReadWithoutIt() throws IOException {
        Path copy = copy("mixed_columns", folder.resolve("pickled"), "[\"bytes\"", "[\"pkl\"");
        String message = assertThrows(MalformedStoreException.class, () -> MdsStore.open(Location.of(copy),
                List.of("u32", "b"))).getMessage();
        assertTrue(message.contains("column 'b' of pickles"), message);
        try (RecordStore all = RecordStore.open(copy)) {
            assertEquals(Map.of("b", "pickles, which are code and never opened"), all.unreadColumns());
            assertFalse(all.columns().isEmpty());
            assertTrue(all.columns().stream().noneMatch(column -> column.name().equals("b")));
        }
        try (RecordStore whole = RecordStore.open(Fixtures.path("mds/mixed_columns"));
                RecordStore some = MdsStore.open(Location.of(copy), List.of("u32", "meta"))) {
            assertEquals(List.of("u32", "meta"), some.columns().stream().map(Column::name).toList());
            Span span = new Span();
            for (int i = 0; i < 2; i++) {
                some.locate(24, i, span);
                byte[] value = bytes(span);
                whole.locate(24, whole.columns().indexOf(some.columns().get(i)), span);
                assertEquals(-1, Arrays.mismatch(value, bytes(span)));
            }
        }
        assertThrows(MalformedStoreException.class, () -> MdsStore.open(Location.of(copy), List.of("absent")));
    }

    private static Path copy(String fixture, Path to, String from, String by) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(Fixtures.path("mds/" + fixture))) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
        Path index = to.resolve("index.json");
        String text = Files.readString(index);
        assertTrue(text.contains(from), from);
        Files.writeString(index, text.replace(from, by));
        return to;
    }

    @Test
    void anIndexThatIsNotAsItsVersionHasItIsRefusedWithItsReason() throws IOException {
        String[][] cases = {
            {"\"version\": 2}", "\"version\": 1}", "version: found 1, expected 2"},
            {"\"format\": \"mds\"", "\"format\": \"csv\"", "shards[0].format: found 'csv', expected 'mds'"},
            {"\"shards\"", "\"chunks\"", "another streaming library"},
            {"\"basename\": \"shard.00000.mds\"", "\"basename\": \"../shard.00000.mds\"", "within the folder"},
            {"\"basename\": \"shard.00000.mds\"", "\"basename\": \"/shard.00000.mds\"", "within the folder"},
            {"\"basename\": \"shard.00000.mds\"", "\"basename\": \"a/../shard.00000.mds\"", "within the folder"},
            {"\"basename\": \"shard.00000.mds\"", "\"basename\": \"a\\\\..\\\\b\"", "within the folder"},
            {"\"basename\": \"shard.00000.mds\"", "\"basename\": \"\\u0000\"", "within the folder"},
            {"\"bytes\": 16076", "\"bytes\": 16077", "16076 bytes, expected 16077"},
            {"\"bytes\": 16076", "\"bytes\": -1", "expected 0 to"},
            {"\"samples\": 45", "\"samples\": 44", "45 samples, expected 44"},
            {"\"samples\": 45", "\"samples\": 4294967295", "an offset of 4 bytes a sample"},
            {"\"column_sizes\": [8, null, 258]", "\"column_sizes\": [4, null, 258]", "4 bytes as int, expected 8"},
            {"\"column_sizes\": [8, null, 258]", "\"column_sizes\": [8, null]", "2 sizes"},
            {"ndarray:uint16:129", "ndarray:uint16:-129", "'ndarray:uint16:-129'"},
            {"ndarray:uint16:129", "ndarray:complex64:129", "'ndarray:complex64:129'"},
            {"ndarray:uint16:129", "ndarray:uint16:129,4611686018427387904", "bytes"},
            {"\"compression\": null", "\"compression\": 7", "a string"},
        };
        for (int i = 0; i < cases.length; i++) {
            Path copy = copy("tokens", folder.resolve("case" + i), cases[i][0], cases[i][1]);
            String message = Truth.assertRefused(copy);
            assertTrue(message.contains(cases[i][2]), cases[i][1] + ": " + message);
        }
        for (String other : new String[] {"br", "snappy", "bz2:9"}) {
            Path copy = copy("tokens_zstd", folder.resolve("packed-" + other.replace(":", "")),
                    "\"compression\": \"zstd\"", "\"compression\": \"" + other + "\"");
            String message = Truth.assertRefused(copy);
            assertTrue(message.contains("compressed by '" + other.split(":")[0] + "'"), message);
        }
    }

    @Test
    void aCompressedShardThatDecodesToAnotherSizeIsRefusedWhenItIsTouched() throws IOException {
        for (String size : new String[] {"16279", "16281"}) {
            Path copy = copy("tokens_zstd", folder.resolve(size), "\"bytes\": 16280", "\"bytes\": " + size);
            try (RecordStore store = RecordStore.open(copy)) {
                Span span = new Span();
                store.locate(50, 0, span);
                MalformedStoreException e = assertThrows(MalformedStoreException.class, () -> store.locate(3, 0, span));
                assertTrue(e.getMessage().contains("shard.00000.mds.zstd"), e.getMessage());
            }
            Truth.assertRefused(copy);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCompressedShardThatIsReplacedBeforeItIsDecodedIsNamed(boolean inPlace) throws IOException {
        Path copy = copy("tokens_zstd", folder.resolve("replaced"), "shards", "shards");
        Path shard = copy.resolve("shard.00000.mds.zstd");
        Files.setLastModifiedTime(shard, FileTime.fromMillis(1_700_000_000_000L));
        byte[] other = Zstd.decompress(Files.readAllBytes(shard), 16_280);
        other[16_279] ^= 1;
        try (RecordStore store = RecordStore.open(copy)) {
            Path by = inPlace ? shard : folder.resolve("new");
            Files.write(by, Zstd.compress(other));
            Files.move(by, shard, StandardCopyOption.REPLACE_EXISTING);
            Span span = new Span();
            for (long sample : new long[] {0, 3}) {
                String message = assertThrows(MalformedStoreException.class, () -> store.locate(sample, 0, span))
                        .getMessage();
                assertTrue(message.startsWith(shard + ": found " + Files.size(shard) + " bytes of version "), message);
            }
            store.locate(50, 0, span);
        }
    }

    @Test
    void aSampleThatIsNotThereIsAnErrorThatNamesTheIndex() throws IOException {
        try (RecordStore store = RecordStore.open(Fixtures.path("mds/tokens"))) {
            assertEquals("mds", StoreFormats.recognize(Location.of(Fixtures.path("mds/tokens"))).name());
            for (long sample : new long[] {-1, 120, Long.MAX_VALUE}) {
                String message = assertThrows(IndexOutOfBoundsException.class,
                        () -> store.locate(sample, 0, new Span())).getMessage();
                assertTrue(message.contains("index.json: sample " + sample + " of 120"), message);
            }
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(0, 3, new Span()));
        }
    }

    @Test
    void locatingAllocatesNothing() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (String name : List.of("mds/tokens", "mds/tokens_zstd")) {
            try (RecordStore store = RecordStore.open(Fixtures.path(name))) {
                Span span = new Span();
                long fewest = Long.MAX_VALUE;
                for (int window = 0; window < 1_000 && fewest > 0; window++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    for (int i = 0; i < 20_000; i++) {
                        store.locate(i % store.size(), i % 3, span);
                    }
                    fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
                }
                assertEquals(0, fewest, name);
            }
        }
    }

    @Tag("slow")
    @Test
    void damagedDatasetsAreReadOrRefused() throws IOException {
        long seed = Long.getLong("penstock.fuzz.seed", 20261121);
        SplittableRandom random = new SplittableRandom(seed);
        for (String name : List.of("tokens", "tokens_zstd", "mixed_columns")) {
            Path copy = copy(name, folder.resolve(name), "shards", "shards");
            List<Path> files;
            try (Stream<Path> listed = Files.list(copy)) {
                files = listed.sorted().toList();
            }
            for (int i = 0; i < Thorough.times(50, 150); i++) {
                Path file = files.get(random.nextInt(files.size()));
                byte[] original = Files.readAllBytes(file);
                byte[] damaged = original.clone();
                for (int change = random.nextInt(3); change >= 0; change--) {
                    int at = random.nextInt(random.nextBoolean() ? damaged.length : Math.min(damaged.length, 600));
                    int flipped = damaged[at] ^ 1 << random.nextInt(8);
                    damaged[at] = (byte) (random.nextBoolean() ? random.nextInt() : flipped);
                }
                Files.write(file, damaged);
                try {
                    Inspection.of(copy, Depth.CONTENT);
                } catch (IOException | PenstockException e) {
                    assertTrue(e.getMessage().contains(name) && !e.getMessage().contains("\n"), e.getMessage());
                } catch (RuntimeException | Error e) {
                    throw new AssertionError("seed " + seed + ", " + name + ", input " + i, e);
                }
                Files.write(file, original);
            }
        }
    }
}
