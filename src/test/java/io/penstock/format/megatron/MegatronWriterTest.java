// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.megatron.MegatronWriter.MegatronSummary;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.TokenStore;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MegatronWriterTest {

    private static final long SEED = 0x9E57;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"U8", "I8", "U16", "I16", "I32", "I64"})
    void documentsComeBackAsTheyWereWrittenInEveryDType(DType dtype) throws IOException {
        List<List<Long>> documents = randomDocuments(dtype, 200, new SplittableRandom(SEED));
        Path prefix = folder.resolve("corpus");
        try (MegatronWriter writer = MegatronWriter.create(prefix, dtype, IfExists.FAIL)) {
            try (MegatronPart part = writer.part()) {
                for (int d = 0; d < documents.size(); d++) {
                    append(part, documents.get(d), dtype, d);
                    part.endDocument();
                }
            }
            writer.commit();
            assertEquals(Folders.names(folder),
                    writer.files().stream().map(file -> file.getFileName().toString()).sorted().toList());
        }
        assertEquals(documents, SlowMegatronReader.documents(prefix), "seed " + SEED);
        assertEquals(documents, read(prefix), "seed " + SEED);
        assertEquals(List.of("corpus.bin", "corpus.bin.crc32c", "corpus.idx", "corpus.idx.crc32c", "corpus.sha256"),
                Folders.names(folder));
    }

    /** Tokens are dropped from the buffer, and from what is written already. */
    @Test
    void droppedTokensAreNotInTheStore() throws IOException, NoSuchAlgorithmException {
        int[] tokens = new SplittableRandom(SEED).ints(700_000, 0, 60_000).toArray();
        List<List<Long>> kept = new ArrayList<>();
        MegatronSummary summary;
        try (MegatronWriter writer = MegatronWriter.create(folder.resolve("corpus"), DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            for (int length : new int[] {3, 10, 0, 7, 700_000, 5, 600_000, 4}) {
                part.append(tokens, 0, length / 2);
                part.append(tokens, length / 2, length - length / 2);
                if (length == 10 || length > 100) {
                    part.dropTokens();
                } else {
                    part.endDocument();
                    kept.add(IntStream.of(tokens).limit(length).asLongStream().boxed().toList());
                }
            }
            part.append(tokens, 0, 9);
            part.dropTokens();
            summary = writer.commit();
        }
        assertEquals(kept, SlowMegatronReader.documents(folder.resolve("corpus")));
        assertEquals(19, summary.tokens());
        assertEquals(5, summary.documents());
        for (Map.Entry<String, String> each : Map.of("corpus.bin", summary.tokenSha256(), "corpus.idx",
                summary.indexSha256()).entrySet()) {
            assertEquals(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256")
                    .digest(Files.readAllBytes(folder.resolve(each.getKey())))), each.getValue());
        }
        assertEquals(Files.size(folder.resolve("corpus.idx")), summary.indexBytes());
    }

    @Test
    void aDescriptionIsPublishedWithTheStoreAndLeavesWithIt() throws IOException {
        Path prefix = folder.resolve("corpus");
        for (boolean described : new boolean[] {true, false}) {
            try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.REPLACE)) {
                if (described) {
                    writer.describe(summary -> (summary.documents() + " documents").getBytes());
                }
                MegatronPart part = writer.part();
                part.endDocument();
                writer.commit();
            }
            assertEquals(described, Files.exists(folder.resolve("corpus.part.json")));
            if (described) {
                assertEquals("1 documents", Files.readString(folder.resolve("corpus.part.json")));
            }
        }
    }

    @Test
    void partsInAnyOrderOfWritingMakeTheSameFilesAsOneWriterAlone() throws Exception {
        List<List<Long>> documents = randomDocuments(DType.U16, 600, new SplittableRandom(SEED));
        Path serial = folder.resolve("serial");
        try (MegatronWriter writer = MegatronWriter.create(serial, DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            for (List<Long> document : documents) {
                append(part, document, DType.U16, 0);
                part.endDocument();
            }
            writer.commit();
        }
        Path parallel = folder.resolve("parallel");
        try (MegatronWriter writer = MegatronWriter.create(parallel, DType.U16, IfExists.FAIL);
                var pool = Executors.newFixedThreadPool(4)) {
            List<MegatronPart> parts = Stream.generate(writer::part).limit(7).toList();
            List<Future<?>> running = new ArrayList<>();
            for (int p = 6; p >= 0; p--) {
                MegatronPart part = parts.get(p);
                // Part 3 stays empty.
                List<List<Long>> own = p == 3 ? List.of() : documents.subList(100 * (p - (p > 3 ? 1 : 0)),
                        100 * (p - (p > 3 ? 1 : 0)) + 100);
                running.add(pool.submit(() -> {
                    for (int d = 0; d < own.size(); d++) {
                        append(part, own.get(d), DType.U16, d);
                        part.endDocument();
                    }
                    part.close();
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            writer.commit();
        }
        assertEquals(-1, Files.mismatch(Path.of(serial + ".bin"), Path.of(parallel + ".bin")));
        assertEquals(-1, Files.mismatch(Path.of(serial + ".idx"), Path.of(parallel + ".idx")));
    }

    @Test
    void whatMegatronWroteIsWrittenByteForByteTheSame() throws IOException {
        Path written = folder.resolve("again");
        try (TokenStore store = TokenStore.open(Fixtures.path("megatron/i32_docs.idx"));
                MegatronWriter writer = MegatronWriter.create(written, store.dtype(), IfExists.FAIL)) {
            MegatronPart part = writer.part();
            Span span = new Span();
            for (long d = 0; d < store.documentCount(); d++) {
                long start = store.documentStart(d);
                store.locate(start, store.documentStart(d + 1) - start, span);
                MemorySegment tokens = span.slice();
                part.append(tokens, 0, tokens.byteSize() / store.dtype().byteSize());
                part.endDocument();
            }
            writer.commit();
        }
        assertEquals(-1, Files.mismatch(Fixtures.path("megatron/i32_docs.idx"), Path.of(written + ".idx")));
        assertEquals(-1, Files.mismatch(Fixtures.path("megatron/i32_docs.bin"), Path.of(written + ".bin")));
    }

    @Test
    void aDocumentLongerThanASequenceMayBeIsSeveralSequences() throws IOException {
        Path prefix = folder.resolve("long");
        long[] tokens = LongStream.range(0, 25).toArray();
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL, 10)) {
            MegatronPart part = writer.part();
            part.append(tokens, 0, 25);
            part.endDocument();
            part.append(tokens, 3, 10);
            part.endDocument();
            writer.commit();
        }
        try (MegatronStore store = MegatronStore.open(Location.of(prefix))) {
            assertEquals(4, store.sequenceCount());
            assertEquals(2, store.documentCount());
            assertEquals(25, store.documentStart(1));
        }
        assertEquals(LongStream.range(0, 25).boxed().toList(), SlowMegatronReader.documents(prefix).getFirst());
    }

    @Test
    void theChecksumFileHoldsWhatSha256sumWouldWrite() throws Exception {
        Path prefix = write("corpus", 1, 2, 3);
        List<String> lines = Files.readAllLines(Path.of(prefix + ".sha256"));
        for (int i = 0; i < 2; i++) {
            String name = List.of("corpus.bin", "corpus.idx").get(i);
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(folder.resolve(name)));
            assertEquals(HexFormat.of().formatHex(digest) + "  " + name, lines.get(i));
        }
        assertEquals(2, lines.size());
    }

    @Test
    void withoutCommitNothingRemains() throws IOException {
        try (MegatronWriter writer = MegatronWriter.create(folder.resolve("corpus"), DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            part.append(new int[3_000_000], 0, 3_000_000);
            part.endDocument();
            assertEquals(List.of(".corpus.writing"), Folders.names(folder));
        }
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void aStoreThatExistsIsKeptUnlessItIsToBeOverwritten() throws IOException {
        Path prefix = write("corpus", 1, 2, 3);
        String message = assertThrows(FileAlreadyExistsException.class,
                () -> MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)).getMessage();
        assertTrue(message.contains("corpus.idx") && message.contains("exists"), message);
        assertEquals(List.of(List.of(1L, 2L, 3L)), read(prefix));
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.I32, IfExists.REPLACE)) {
            MegatronPart part = writer.part();
            part.append(new int[] {9}, 0, 1);
            part.endDocument();
            assertEquals(List.of(List.of(1L, 2L, 3L)), read(prefix), "the old store is whole until the commit");
            writer.commit();
        }
        assertEquals(List.of(List.of(9L)), read(prefix));
        Files.delete(Path.of(prefix + ".idx"));
        assertThrows(FileAlreadyExistsException.class, () -> MegatronWriter.create(prefix, DType.U16, IfExists.FAIL));
    }

    @Test
    void aStoreThatAppearsMeanwhileIsKept() throws IOException {
        Path prefix = folder.resolve("corpus");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            part.append(new int[] {9}, 0, 1);
            part.endDocument();
            Files.writeString(folder.resolve("corpus.bin"), "other");
            assertThrows(FileAlreadyExistsException.class, writer::commit);
        }
        assertEquals("other", Files.readString(folder.resolve("corpus.bin")));
        assertEquals(List.of("corpus.bin"), Folders.names(folder));
    }

    @Test
    void aSecondWriterOfThisProcessIsRefusedWhileTheFirstGoesOn() throws IOException {
        Path prefix = folder.resolve("corpus");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            String message = assertThrows(IOException.class,
                    () -> MegatronWriter.create(prefix, DType.U16, IfExists.REPLACE)).getMessage();
            assertTrue(message.contains("corpus") && message.contains("another writer"), message);
            MegatronPart part = writer.part();
            part.append(new int[] {7}, 0, 1);
            part.endDocument();
            writer.commit();
        }
        assertEquals(List.of(List.of(7L)), read(prefix));
        MegatronWriter.create(prefix, DType.U16, IfExists.REPLACE).close();
    }

    @Test
    void writersThatComeAndGoNeverHaveTheSameStoreAtOnce() throws Exception {
        Path prefix = folder.resolve("corpus");
        var holders = new java.util.concurrent.atomic.AtomicInteger();
        var taken = new java.util.concurrent.atomic.AtomicInteger();
        try (var pool = Executors.newFixedThreadPool(4)) {
            List<Future<?>> running = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                running.add(pool.submit(() -> {
                    for (int i = 0; i < 200; i++) {
                        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.REPLACE)) {
                            assertEquals(1, holders.incrementAndGet());
                            MegatronPart part = writer.part();
                            part.append(new int[] {1}, 0, 1);
                            taken.incrementAndGet();
                            holders.decrementAndGet();
                        } catch (IOException e) {
                            assertTrue(e.getMessage().contains("writing"), e.toString());
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
        assertTrue(taken.get() > 0);
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void whatADeadWriterLeftBehindDoesNotBlockTheNextOne() throws IOException {
        Path left = Files.createDirectory(folder.resolve(".corpus.writing"));
        Files.writeString(left.resolve("lock"), "4711 x");
        Files.writeString(left.resolve("part-0.tokens"), "half");
        write("corpus", 5);
        assertEquals(List.of(List.of(5L)), read(folder.resolve("corpus")));
        assertEquals(List.of("corpus.bin", "corpus.bin.crc32c", "corpus.idx", "corpus.idx.crc32c", "corpus.sha256"),
                Folders.names(folder));
    }

    @Test
    void aTokenThatDoesNotFitIsNamedWithItsPlaceAndNothingOfTheCallIsWritten() throws IOException {
        Path prefix = folder.resolve("corpus");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            String message = assertThrows(IllegalArgumentException.class,
                    () -> part.append(new int[] {1, 2, 65_536, 3}, 0, 4)).getMessage();
            assertTrue(message.contains("token 65536 at index 2") && message.contains("u16"), message);
            assertThrows(IllegalArgumentException.class, () -> part.append(new int[] {-1}, 0, 1));
            assertThrows(IllegalArgumentException.class, () -> part.append(new long[] {1L << 40}, 0, 1));
            part.append(new int[] {65_535, 0}, 0, 2);
            part.endDocument();
            writer.commit();
        }
        assertEquals(List.of(List.of(65_535L, 0L)), read(prefix));
    }

    @Test
    void theLimitsOfEachDTypeFitAndTheirNeighboursDoNot() throws IOException {
        long[][] limits = {{0, 255}, {-128, 127}, {0, 65_535}, {-32_768, 32_767},
            {Integer.MIN_VALUE, Integer.MAX_VALUE}};
        DType[] dtypes = {DType.U8, DType.I8, DType.U16, DType.I16, DType.I32};
        for (int i = 0; i < dtypes.length; i++) {
            try (MegatronWriter writer = MegatronWriter.create(folder.resolve("limits"), dtypes[i], IfExists.FAIL)) {
                MegatronPart part = writer.part();
                part.append(limits[i], 0, 2);
                for (long beyond : new long[] {limits[i][0] - 1, limits[i][1] + 1}) {
                    assertThrows(IllegalArgumentException.class, () -> part.append(new long[] {beyond}, 0, 1));
                }
            }
        }
        for (DType none : List.of(DType.U32, DType.U64, DType.F32, DType.BOOL)) {
            assertThrows(IllegalArgumentException.class,
                    () -> MegatronWriter.create(folder.resolve("none"), none, IfExists.FAIL));
        }
    }

    @Test
    void tokensBehindTheLastDocumentAreAnErrorThatLeavesNothing() throws IOException {
        try (MegatronWriter writer = MegatronWriter.create(folder.resolve("corpus"), DType.U16, IfExists.FAIL)) {
            writer.part().append(new int[] {1}, 0, 1);
            assertThrows(IllegalStateException.class, writer::commit);
        }
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void aStoreMayHoldNoTokenAndNoDocument() throws IOException {
        for (int documents = 0; documents < 3; documents++) {
            Path prefix = folder.resolve("corpus" + documents);
            try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
                for (int d = 0; d < documents; d++) {
                    writer.part().endDocument();
                }
                writer.commit();
            }
            try (TokenStore store = TokenStore.open(prefix)) {
                assertEquals(0, store.tokenCount());
                assertEquals(documents, store.documentCount());
            }
        }
    }

    @Test
    void closeWhileAPartIsBeingWrittenEndsTheWritingThreadAndLeavesNothing() throws Exception {
        MegatronWriter writer = MegatronWriter.create(folder.resolve("corpus"), DType.U16, IfExists.FAIL);
        MegatronPart part = writer.part();
        part.append(new int[1], 0, 1);
        try (var pool = Executors.newSingleThreadExecutor()) {
            Future<?> writing = pool.submit(() -> {
                int[] tokens = new int[1 << 16];
                while (true) {
                    part.append(tokens, 0, tokens.length);
                }
            });
            writer.close();
            Throwable cause = assertThrows(java.util.concurrent.ExecutionException.class, writing::get).getCause();
            assertTrue(cause instanceof IllegalStateException, cause.toString());
        }
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aPartWhoseTokensVanishedHalfWayIsNotCommitted() throws IOException {
        Path source = Files.write(folder.resolve("source"), new byte[4 << 20]);
        try (MappedFile mapped = MappedFile.open(source);
                MegatronWriter writer = MegatronWriter.create(folder.resolve("corpus"), DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            try (RandomAccessFile file = new RandomAccessFile(source.toFile(), "rw")) {
                file.setLength(3 << 19);
            }
            assertThrows(InternalError.class, () -> part.append(mapped.segment(), 0, 2 << 20));
            assertThrows(IOException.class, part::endDocument);
            assertThrows(IOException.class, writer::commit);
        }
        assertEquals(List.of("source"), Folders.names(folder));
    }

    @Test
    void aFolderThatDoesNotExistIsNamed() {
        String message = assertThrows(IOException.class,
                () -> MegatronWriter.create(folder.resolve("absent/corpus"), DType.U16, IfExists.FAIL)).getMessage();
        assertTrue(message.contains("absent"), message);
        assertFalse(Files.exists(folder.resolve("absent")));
    }

    @Test
    void megatronsRuleChoosesTheDType() {
        assertEquals(DType.U16, MegatronWriter.dtypeFor(50_257));
        assertEquals(DType.U16, MegatronWriter.dtypeFor(65_499));
        assertEquals(DType.I32, MegatronWriter.dtypeFor(65_500));
    }

    private Path write(String name, int... tokens) throws IOException {
        Path prefix = folder.resolve(name);
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            part.append(tokens, 0, tokens.length);
            part.endDocument();
            writer.commit();
        }
        return prefix;
    }

    private static List<List<Long>> randomDocuments(DType dtype, int count, SplittableRandom random) {
        int bits = 8 * dtype.byteSize();
        return Stream.generate(() -> {
            int length = random.nextInt(4) == 0 ? 0 : random.nextInt(2000);
            return random.longs(length).map(r -> dtype.isUnsigned() ? r >>> 64 - bits : r >> 64 - bits).boxed()
                    .toList();
        }).limit(count).toList();
    }

    /** By one of the three ways, cut in two. */
    private static void append(MegatronPart part, List<Long> document, DType dtype, int way) throws IOException {
        long[] tokens = document.stream().mapToLong(Long::longValue).toArray();
        int cut = tokens.length / 3;
        switch (dtype == DType.I64 && way % 3 == 1 ? 0 : way % 3) {
            case 0 -> {
                part.append(tokens, 0, cut);
                part.append(tokens, cut, tokens.length - cut);
            }
            case 1 -> {
                int[] ints = LongStream.of(tokens).mapToInt(Math::toIntExact).toArray();
                part.append(ints, 0, cut);
                part.append(ints, cut, tokens.length - cut);
            }
            default -> {
                byte[] bytes = new byte[tokens.length * dtype.byteSize()];
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] = (byte) (tokens[i / dtype.byteSize()] >> 8 * (i % dtype.byteSize()));
                }
                part.append(MemorySegment.ofArray(bytes), 0, cut);
                part.append(MemorySegment.ofArray(bytes), cut, tokens.length - cut);
            }
        }
    }

    private static List<List<Long>> read(Path prefix) throws IOException {
        List<List<Long>> documents = new ArrayList<>();
        try (TokenStore store = TokenStore.open(prefix)) {
            Span span = new Span();
            for (long d = 0; d < store.documentCount(); d++) {
                long count = store.documentStart(d + 1) - store.documentStart(d);
                store.locate(store.documentStart(d), count, span);
                Tensor tokens = Tensor.of(span.slice(), store.dtype(), count);
                documents.add(LongStream.range(0, count).map(tokens::getLong).boxed().toList());
            }
        }
        return documents;
    }
}
