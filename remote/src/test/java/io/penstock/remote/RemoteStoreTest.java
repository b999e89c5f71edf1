// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.webdataset.ShardList;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.memory.DType;
import io.penstock.remote.RemoteSettings.Access;
import io.penstock.store.Fixtures;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.Rows;
import io.penstock.store.Store;
import io.penstock.store.StoreContent;
import io.penstock.store.TensorStore;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Stores of every format in a bucket and on an HTTP server hold what the local ones hold. */
class RemoteStoreTest {

    private static final String[] FORMATS = {"megatron", "llmc", "nanogpt", "datatrove", "npy", "npz", "safetensors",
        "hdf5", "arrow", "parquet", "lmdb", "mds", "webdataset", "images", "raw"};

    @TempDir
    private static Path cache;
    private static ObjectHost bucket;
    private static ObjectHost web;
    private static RemoteFiles inBucket;
    private static RemoteFiles onWeb;

    @BeforeAll
    static void start() throws IOException {
        bucket = ObjectHost.start().bucket("bucket");
        web = ObjectHost.start();
        Set<Path> files = new TreeSet<>();
        for (Fixtures.Entry entry : Fixtures.entries(FORMATS).toList()) {
            Path folder = Files.isDirectory(entry.path()) ? entry.path() : entry.path().getParent();
            try (Stream<Path> all = Files.walk(folder)) {
                all.filter(Files::isRegularFile).forEach(files::add);
            }
        }
        for (Path file : files) {
            byte[] bytes = Files.readAllBytes(file);
            bucket.put(file.toString().substring(1), bytes);
            web.put(file.toString().substring(1), bytes);
        }
        inBucket = bucket.files(cache);
        onWeb = web.files(cache);
    }

    @AfterAll
    static void stop() {
        bucket.close();
        web.close();
    }

    @TestFactory
    Stream<DynamicTest> everyFormatInABucketIsReadAsItIsLocally() throws IOException {
        return Fixtures.entries(FORMATS).map(entry -> DynamicTest.dynamicTest(entry.kind() + " " + entry, () -> {
            String expected = StoreContent.read(Location.of(entry.path()));
            String found = StoreContent.read(inBucket.locate("s3://bucket" + UriText.path(entry.path().toString())));
            assertEquals(expected, found.replace("s3://bucket/", "/"));
            assertEquals(List.of(), bucket.problems());
        }));
    }

    @TestFactory
    Stream<DynamicTest> everyFormatOfSingleFilesIsReadOverHttp() throws IOException {
        return Stream.of("npy", "safetensors", "parquet", "arrow", "nanogpt").map(kind ->
                DynamicTest.dynamicTest(kind, () -> {
                    Path file = Fixtures.entries(kind).filter(entry -> entry.expect().equals("read")
                            && Files.isRegularFile(entry.path())).findFirst().orElseThrow().path();
                    String found = StoreContent.read(onWeb.locate(web.url(UriText.path(file.toString().substring(1)))));
                    assertEquals(StoreContent.read(Location.of(file)), found.replace(web.url(""), "/"));
                    assertEquals(List.of(), web.problems());
                }));
    }

    @Test
    void bracesNameTheShardsOfADataset() throws IOException {
        List<Path> shards = Fixtures.entries("webdataset").filter(entry -> entry.expect().equals("read")
                && entry.path().toString().endsWith(".tar")).map(Fixtures.Entry::path).limit(1).toList();
        byte[] bytes = Files.readAllBytes(shards.getFirst());
        for (int i = 0; i < 3; i++) {
            bucket.put("shards/train-00000" + i + ".tar", bytes);
        }
        long one;
        try (Store store = Store.open(shards.getFirst())) {
            one = ((RecordStore) store).size();
        }
        for (String name : List.of("s3://bucket/shards/train-{000000..000002}.tar", "s3://bucket/shards",
                "s3://bucket/shards/")) {
            try (Store store = Store.open(inBucket.locate(name), OpenOptions.DEFAULT)) {
                assertEquals(3 * one, ((RecordStore) store).size(), name);
            }
        }
    }

    @Test
    void partitionedFoldersAreTablesInABucketAndOnAServer() throws IOException {
        byte[] bytes = Files.readAllBytes(Fixtures.resource("parquet/older/repeated_no_annotation.parquet"));
        for (String path : List.of("hive/lang=de/year=1/a.parquet", "hive/lang=a%20b/year=2/a.parquet",
                "hive/_SUCCESS", "hive/lang=de/_tmp/b.parquet")) {
            bucket.put(path, bytes);
            web.put(path, bytes);
        }
        for (Location folder : List.of(inBucket.locate("s3://bucket/hive"), onWeb.locate(web.url("hive/")))) {
            try (RecordStore store = RecordStore.open(folder, OpenOptions.DEFAULT)) {
                assertEquals(List.of("a b", "de"), Rows.column(store, "lang").stream().distinct().toList());
                assertEquals(List.of(2L, 1L), Rows.column(store, "year").stream().distinct().toList());
            }
        }
        RemoteFiles offline = RemoteFiles.of(bucket.settings(cache).withAccess(Access.OFFLINE), Map.of());
        try (RecordStore store = RecordStore.open(offline.locate("s3://bucket/hive"), OpenOptions.DEFAULT)) {
            assertEquals(12, store.size());
        }
    }

    @Test
    void tarsOfABucketAreStreamedAndContinueInTheMiddleOfOne(@TempDir Path small) throws IOException {
        List<Path> shards;
        try (WebDatasetWriter writer = WebDatasetWriter.create(small.resolve("s-%03d.tar"), 10, Long.MAX_VALUE)) {
            for (int i = 0; i < 25; i++) {
                writer.write("key" + i, Map.of("bin", MemorySegment.ofArray(ObjectHost.bytes(5_000, i))));
            }
            shards = writer.commit();
        }
        for (Path shard : shards) {
            bucket.put("streamed/" + shard.getFileName(), Files.readAllBytes(shard));
        }
        WebDatasetSource remote = WebDatasetSource.of(
                ShardList.of(inBucket.locate("s3://bucket/streamed/s-{000..002}.tar")), "bin");
        try (PartitionReader reader = remote.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i < 25; i++) {
                String cursor = reader.cursor();
                assertEquals(PartitionReader.Found.RECORD, reader.poll(into));
                try (PartitionReader again = remote.open(0, cursor); RecordBuffer one = new RecordBuffer()) {
                    assertEquals(PartitionReader.Found.RECORD, again.poll(one));
                    for (MemorySegment record : List.of(into.record(i), one.record(0))) {
                        assertEquals(-1, MemorySegment.ofArray(ObjectHost.bytes(5_000, i))
                                .mismatch(record.asSlice(record.byteSize() - 5_000)));
                    }
                }
            }
            assertEquals(PartitionReader.Found.END, reader.poll(into));
        }
    }

    @Test
    void theIndexOfATarIsBuiltOnceAndKeptWithTheCache(@TempDir Path small) throws IOException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(small.resolve("s-%03d.tar"), 50, Long.MAX_VALUE)) {
            for (int i = 0; i < 100; i++) {
                writer.write("key" + i, Map.of("bin", MemorySegment.ofArray(ObjectHost.bytes(100_000, i))));
            }
            writer.commit();
        }
        try (Stream<Path> files = Files.list(small)) {
            for (Path file : files.filter(path -> !path.toString().endsWith("-index")).toList()) {
                bucket.put("tars/" + file.getFileName(), Files.readAllBytes(file));
            }
        }
        RemoteSettings settings = bucket.settings(small.resolve("cache")).withCache(small.resolve("cache"), 1 << 20)
                .withBlockBytes(1 << 15);
        for (int i = 0; i < 2; i++) {
            bucket.forgetRequests();
            try (Store store = Store.open(RemoteFiles.of(settings, Map.of()).locate("s3://bucket/tars"),
                    OpenOptions.DEFAULT); SpanReader reader = new SpanReader(ReadMode.AUTO)) {
                RecordStore records = (RecordStore) store;
                assertEquals(100, records.size());
                // The first bytes show the format.
                assertTrue(i == 0 || bucket.gets().stream().allMatch(get -> get.endsWith("=0-32767")
                        || !get.contains(".tar ")), bucket.gets().toString());
                Span span = new Span();
                for (int sample : new int[] {99, 0, 57}) {
                    records.locate(sample, 0, span);
                    Span local = reader.local(span);
                    assertEquals(-1, MemorySegment.ofArray(ObjectHost.bytes(100_000, sample)).mismatch(
                            local.segment().asSlice(local.byteOffset(), local.byteSize())));
                }
            }
        }
    }

    @Test
    void theFingerprintIsOfTheVersionAndFetchesNoData() throws IOException {
        byte[] bytes = ObjectHost.bytes(4 << 20, 1);
        web.put("large.bin", bytes);
        OpenOptions raw = OpenOptions.DEFAULT.withFormat("raw").withDType(DType.U8).withShape(List.of(-1L, 1024L));
        web.forgetRequests();
        String before;
        try (Store store = Store.open(onWeb.locate(web.url("large.bin")), raw)) {
            before = store.fingerprint();
        }
        assertTrue(web.gets().size() <= 1, web.gets().toString());
        bytes[1 << 20]++;
        web.put("large.bin", bytes);
        try (Store store = Store.open(web.files(cache).locate(web.url("large.bin")), raw)) {
            assertNotEquals(before, store.fingerprint());
        }
    }

    @Test
    void aCacheThatHoldsATenthOfAStoreReadsAllOfIt(@TempDir Path small) throws IOException {
        byte[] bytes = ObjectHost.bytes(10 << 20, 2);
        web.put("rows.bin", bytes);
        RemoteFiles files = RemoteFiles.of(web.settings(small).withCache(small, 1 << 20).withBlockBytes(1 << 15),
                Map.of());
        OpenOptions raw = OpenOptions.DEFAULT.withFormat("raw").withDType(DType.U8).withShape(List.of(-1L, 4096L));
        try (Store store = Store.open(files.locate(web.url("rows.bin")), raw); Arena arena = Arena.ofConfined()) {
            TensorStore rows = (TensorStore) store;
            MemorySegment copy = arena.allocate(4096 * 64);
            for (ReadMode mode : new ReadMode[] {ReadMode.MMAP, ReadMode.PREAD}) {
                try (SpanReader reader = new SpanReader(mode)) {
                    for (long first = 0; first < 128; first += 64) {
                        long[] chosen = new long[64];
                        for (int i = 0; i < 64; i++) {
                            chosen[i] = (first + i) * 997 % 2560;
                        }
                        reader.copyRows(rows.rows(0), chosen, 64, copy, 0);
                        for (int i = 0; i < 64; i++) {
                            int at = (int) chosen[i] * 4096;
                            assertEquals(MemorySegment.ofArray(Arrays.copyOfRange(bytes, at, at + 4096)).mismatch(
                                    copy.asSlice(i * 4096L, 4096)), -1L);
                        }
                    }
                    Span span = new Span();
                    rows.locate(0, 100, 20, span);
                    Span local = reader.local(span);
                    assertEquals(bytes[100 * 4096], local.segment().get(ValueLayout.JAVA_BYTE, local.byteOffset()));
                }
            }
        }
    }

    @Test
    void offlineACachedStoreIsReadWithoutARequest(@TempDir Path warm) throws IOException {
        bucket.put("offline/a.npy", npy()).put("offline/b.npy", npy());
        Location online = bucket.files(warm).locate("s3://bucket/offline/a.npy");
        String expected = StoreContent.read(online);
        bucket.forgetRequests();
        RemoteFiles offline = RemoteFiles.of(bucket.settings(warm).withAccess(Access.OFFLINE), Map.of());
        assertEquals(expected, StoreContent.read(offline.locate("s3://bucket/offline/a.npy")));
        assertTrue(offline.locate("s3://bucket/offline").isFolder());
        assertEquals(List.of("a.npy"), offline.locate("s3://bucket/offline").files(_ -> true).stream()
                .map(Location::name).toList());
        assertEquals(List.of(), bucket.requests());
        String missing = StoreContent.read(offline.locate("s3://bucket/offline/b.npy"));
        assertTrue(missing.contains("b.npy"), missing);
    }

    @Test
    void offlineAFileThatIsNotCachedIsAnErrorThatSaysSo(@TempDir Path empty) throws IOException {
        RemoteFiles offline = RemoteFiles.of(bucket.settings(empty).withAccess(Access.OFFLINE), Map.of());
        try (MappedFile _ = offline.locate("s3://bucket/none").open()) {
            throw new AssertionError("opened");
        } catch (NoSuchFileException e) {
            assertTrue(e.getMessage().contains("(offline)"), e.getMessage());
        }
    }

    private static byte[] npy() throws IOException {
        return Files.readAllBytes(Fixtures.entries("npy").filter(entry -> entry.expect().equals("read"))
                .findFirst().orElseThrow().path());
    }
}
