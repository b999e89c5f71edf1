// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.codec.decoder.Gzip;
import io.penstock.collate.StackAndPad;
import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Permutation;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.RecordText;
import io.penstock.stream.StreamDataset;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.Tokenizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A stream of tars gives each sample once a pass, in an order that follows from its seed, and continues exactly. */
class WebDatasetSourceTest {

    private static final int SAMPLES = 61;
    private static final int SHARDS = 7;

    @TempDir
    Path folder;
    private List<Path> shards;

    private List<Location> locations() {
        return shards.stream().map(Location::of).toList();
    }

    private WebDatasetSource source() throws IOException {
        return WebDatasetSource.of(locations(), "txt", "cls");
    }

    /** Shards of 10 samples, every other one compressed. */
    @BeforeEach
    void write() throws IOException {
        shards = new ArrayList<>();
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("s-%02d.tar"), 10, Long.MAX_VALUE)) {
            for (int i = 0; i < SAMPLES; i++) {
                writer.write("k" + i, Map.of("txt", text(content(i)), "cls", text("" + i), "json", text("{}")));
            }
            shards.addAll(writer.commit());
        }
        for (int i = 1; i < shards.size(); i += 2) {
            Path packed = Path.of(shards.get(i) + ".gz");
            try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
                out.write(Files.readAllBytes(shards.get(i)));
            }
            shards.set(i, packed);
        }
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String content(int i) {
        return ("content of " + i + " ").repeat(i * 13 % 200);
    }

    private static StreamDataset.Builder dataset(WebDatasetSource source) {
        return StreamDataset.builder(source).field("cls", Decoder.decimal(DType.I64), 0).field("txt");
    }

    private static DataLoaderBuilder loader(StreamDataset stream, int batchSize, int workers) {
        return DataLoader.builder(stream).collator(StackAndPad.cutTo(4096)).batchSize(batchSize).workers(workers);
    }

    /** Adds the labels of a batch, whose texts must belong to them. */
    private static void add(Batch batch, List<Long> to) {
        try (batch) {
            Tensor labels = batch.tensor("cls");
            Tensor texts = batch.tensor("txt");
            long width = texts.shape()[1];
            for (int row = 0; row < batch.valid(); row++) {
                long label = labels.getLong(row);
                byte[] expected = Arrays.copyOf(content((int) label).getBytes(StandardCharsets.UTF_8), (int) width);
                byte[] found = texts.segment().asSlice(row * width, width).toArray(ValueLayout.JAVA_BYTE);
                assertEquals(-1, Arrays.mismatch(expected, found), "sample " + label);
                to.add(label);
            }
        }
    }

    private static List<Long> all(StreamDataset.Builder settings, int batchSize, int workers) {
        List<Long> labels = new ArrayList<>();
        try (StreamDataset stream = settings.open(); DataLoader loader = loader(stream, batchSize, workers).open()) {
            for (Batch batch : loader.epoch()) {
                add(batch, labels);
            }
        }
        return labels;
    }

    /** The samples of a shard. */
    private static List<Long> of(long shard) {
        return IntStream.range((int) shard * 10, (int) Math.min(SAMPLES, shard * 10 + 10)).mapToObj(i -> (long) i)
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 7", "3, 32"})
    void shardsAreReadInTheOrderOfTheirList(int workers, int batchSize) throws IOException {
        assertEquals(IntStream.range(0, SAMPLES).mapToObj(i -> (long) i).toList(),
                all(dataset(source()), batchSize, workers));
    }

    @Test
    void inEachPassShardsComeInTheOrderOfAPermutation() throws IOException {
        List<Long> expected = new ArrayList<>();
        for (int pass = 0; pass < 3; pass++) {
            var order = new Permutation(SHARDS, 42, pass);
            for (int place = 0; place < SHARDS; place++) {
                expected.addAll(of(order.at(place)));
            }
        }
        List<Long> given = all(dataset(source().passes(3).shuffled(42)), 8, 2);
        assertEquals(expected, given);
        assertNotEquals(given, all(dataset(source().passes(3).shuffled(43)), 8, 2));
        assertNotEquals(given.subList(0, SAMPLES), given.subList(SAMPLES, 2 * SAMPLES));
        for (int pass = 0; pass < 3; pass++) {
            assertEquals(SAMPLES, new HashSet<>(given.subList(pass * SAMPLES, (pass + 1) * SAMPLES)).size());
        }
    }

    @Test
    void partitionsShareTheShardsOfAllPasses() throws IOException {
        List<List<Long>> byPartition = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int place = 0; place < 2 * SHARDS; place++) {
            byPartition.get(place % 3).addAll(of(place % SHARDS));
        }
        List<Long> expected = new ArrayList<>();
        for (int i = 0; i < 2 * SAMPLES; i++) {
            for (List<Long> partition : byPartition) {
                if (i < partition.size()) {
                    expected.add(partition.get(i));
                }
            }
        }
        assertEquals(expected, all(dataset(source().passes(2).partitioned(3)), 5, 1));
    }

    @Test
    void stoppedAndResumedAnywhereTheSamplesAreTheSame() throws IOException {
        stopAndResume(20);
    }

    @Test
    @Tag("slow")
    void stoppedAndResumedTwoHundredTimes() throws IOException {
        stopAndResume(200);
    }

    private void stopAndResume(int stops) throws IOException {
        var random = new Random(18);
        WebDatasetSource source = source().shuffled(3).passes(1 + stops / 16).partitioned(2);
        List<Long> straight = all(dataset(source).shuffle(7, 23), 8, 2);
        List<Long> pieces = new ArrayList<>();
        LoaderState state = null;
        for (int run = 0; pieces.size() < straight.size(); run++) {
            assertTrue(run < 100 * stops, "the end is never reached");
            try (StreamDataset stream = dataset(source).shuffle(7, 23).open()) {
                DataLoaderBuilder builder = loader(stream, 1 + random.nextInt(9), random.nextInt(3));
                try (DataLoader loader = (state == null ? builder
                        : builder.resume(LoaderState.fromJson(state.toJson()))).open()) {
                    for (int i = random.nextInt(4); i > 0 && loader.hasNext(); i--) {
                        add(loader.next(), pieces);
                    }
                    state = loader.state();
                }
            }
        }
        assertEquals(straight, pieces);
    }

    @Test
    void aRankReadsTheShardsOfItsLanes() throws IOException {
        List<Long> together = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            try (StreamDataset stream = dataset(source().partitioned(2).passes(9)).lanes(2).open();
                    DataLoader loader = loader(stream, 5, 1).shard(new Shard(rank, 2, TailPolicy.EXACT)).open()) {
                for (int batch = 0; batch < 4; batch++) {
                    add(loader.next(), together);
                }
            }
        }
        assertEquals(IntStream.range(0, 40).mapToObj(i -> of(i / 20 + i % 20 / 10 * 2).get(i % 10)).toList(), together);
    }

    /** Tars of webdataset's own writer, and of others: what the store finds by its index, the stream finds without. */
    @ParameterizedTest
    @ValueSource(strings = {"compressed.tar.gz", "directories.tar", "gnu_tar_dot_slash.tar", "long_names_pax.tar",
        "multi_dot.tar", "shard-000001.tar"})
    void theBytesAreThoseOfTheStore(String name) throws IOException {
        Path tar = Fixtures.path("webdataset/" + name);
        try (RecordStore store = RecordStore.open(tar); RecordBuffer records = new RecordBuffer()) {
            Span span = new Span();
            for (int column = 0; column < store.columns().size(); column++) {
                String member = store.columns().get(column).name();
                records.clear();
                PartitionReader reader = WebDatasetSource.of(List.of(Location.of(tar)), member).skippingIncomplete()
                        .open(0, "");
                int samples = 0;
                for (long record = 0; record < store.size(); record++) {
                    if (store.isPresent(record, column)) {
                        assertEquals(PartitionReader.Found.RECORD, reader.poll(records));
                        store.locate(record, column, span);
                        assertEquals(-1, span.slice().mismatch(records.record(samples++)), member);
                    }
                }
                assertEquals(PartitionReader.Found.END, reader.poll(records));
                assertEquals(store.size() - samples, reader.lag().skipped());
                reader.close();
                reader.close();
            }
        }
    }

    @Test
    void aSampleWithoutAMemberIsAnErrorOrLeftOutOnRequest() throws IOException {
        Path file = Fixtures.path("webdataset/missing_member.tar");
        List<Location> tar = List.of(Location.of(file));
        List<String> columns;
        long size;
        try (RecordStore store = RecordStore.open(file)) {
            columns = store.columns().stream().map(column -> column.name()).toList();
            size = store.size();
        }
        String[] members = columns.toArray(String[]::new);
        try (RecordBuffer records = new RecordBuffer()) {
            try (PartitionReader reader = WebDatasetSource.of(tar, members).open(0, "")) {
                String message = assertThrows(MalformedStoreException.class, () -> {
                    while (reader.poll(records) == PartitionReader.Found.RECORD) {
                        // until a sample lacks one
                    }
                }).getMessage();
                assertTrue(message.contains("missing_member.tar: at byte ") && message.contains(" of the members "),
                        message);
            }
            records.clear();
            try (PartitionReader reader = WebDatasetSource.of(tar, members).skippingIncomplete().open(0, "")) {
                while (reader.poll(records) == PartitionReader.Found.RECORD) {
                    // until the end
                }
                assertTrue(records.count() < size);
                assertEquals(size, records.count() + reader.lag().skipped());
            }
        }
    }

    @Test
    void oneMemberIsTheTextOfDocuments() throws IOException {
        Tokenizer tokenizer = Tokenizer.of("gpt2");
        var documents = TokenDocumentSource.of(WebDatasetSource.of(locations(), "cls"), RecordText.WHOLE, tokenizer);
        try (PartitionReader reader = documents.open(0, ""); RecordBuffer records = new RecordBuffer()) {
            for (int i = 0; i < SAMPLES; i++) {
                assertEquals(PartitionReader.Found.RECORD, reader.poll(records));
                short[] tokens = records.record(i).toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
                assertEquals(tokenizer.endOfText(), tokens[tokens.length - 1] & 0xFFFF);
            }
            assertEquals(PartitionReader.Found.END, reader.poll(records));
        }
        WebDatasetSource two = source();
        assertThrows(IllegalArgumentException.class,
                () -> TokenDocumentSource.of(two, RecordText.WHOLE, tokenizer));
        assertThrows(IllegalArgumentException.class, () -> StreamDataset.builder(two).field("jpg"));
    }

    @Test
    void statesOfOtherShardsAndCursorsWhereNoSampleBeginsAreRefused() throws IOException {
        assertNotEquals(source().fingerprint(),
                WebDatasetSource.of(locations().subList(0, 3), "txt", "cls").fingerprint());
        for (String cursor : List.of("0:1", "0:511", "1:1073741824", "0:" + Long.MAX_VALUE, "7:512", "x", "0", "-1:0",
                "0:-1", ":")) {
            Exception refused = assertThrows(Exception.class, () -> {
                try (PartitionReader reader = source().open(0, cursor); RecordBuffer records = new RecordBuffer()) {
                    reader.poll(records);
                }
            }, cursor);
            assertTrue(refused instanceof IOException || refused instanceof MalformedStoreException, cursor);
        }
        try (PartitionReader reader = source().open(0, "7:0"); RecordBuffer records = new RecordBuffer()) {
            assertEquals(PartitionReader.Found.END, reader.poll(records));
            assertEquals("7:0", reader.cursor());
        }
        assertThrows(IllegalArgumentException.class, () -> WebDatasetSource.of(List.of(), "txt"));
        assertThrows(IllegalArgumentException.class, () -> WebDatasetSource.of(locations()));
        assertThrows(IllegalArgumentException.class, () -> WebDatasetSource.of(locations(), "txt", "txt"));
        assertThrows(IllegalArgumentException.class, () -> source().passes(0));
        assertThrows(IllegalArgumentException.class, () -> source().partitioned(8));
    }

    @Test
    void aCutShardIsAnErrorThatNamesIt() throws IOException {
        for (int shard : new int[] {0, 1}) {
            Path cut = shards.get(shard);
            byte[] bytes = Files.readAllBytes(cut);
            Files.write(cut, Arrays.copyOf(bytes, bytes.length * 2 / 3));
            try (PartitionReader reader = WebDatasetSource.of(List.of(Location.of(cut)), "txt").open(0, "");
                    RecordBuffer records = new RecordBuffer()) {
                String message = assertThrows(MalformedStoreException.class, () -> {
                    while (reader.poll(records) == PartitionReader.Found.RECORD) {
                        // until the cut
                    }
                }).getMessage();
                assertTrue(message.contains(cut.toString()), message);
                assertFalse(message.contains("\n"), message);
            }
            Files.write(cut, bytes);
        }
    }

    @Test
    void gzipTakesMembersAndZerosBehindThemAndNothingElse() throws IOException {
        byte[] packed = Files.readAllBytes(shards.get(1));
        byte[] plain = Files.readAllBytes(folder.resolve("s-01.tar"));
        byte[] zeros = Arrays.copyOf(packed, packed.length + 100_000);
        assertEquals(-1, Arrays.mismatch(plain, gunzip(zeros)));
        byte[] twice = Arrays.copyOf(packed, packed.length * 2);
        System.arraycopy(packed, 0, twice, packed.length, packed.length);
        assertEquals(plain.length * 2, gunzip(twice).length);
        for (int length = packed.length + 1; length < twice.length; length += 11) {
            byte[] cut = Arrays.copyOf(twice, length);
            assertThrows(CodecException.class, () -> gunzip(cut), length + " bytes");
        }
        byte[] checksum = packed.clone();
        checksum[packed.length - 7] ^= 1;
        assertThrows(CodecException.class, () -> gunzip(checksum));
        zeros[packed.length + 50_000] = 1;
        assertThrows(CodecException.class, () -> gunzip(zeros));
    }

    private static byte[] gunzip(byte[] packed) throws IOException {
        try (var in = Gzip.open(new ByteArrayInputStream(packed))) {
            return in.readAllBytes();
        }
    }
}
