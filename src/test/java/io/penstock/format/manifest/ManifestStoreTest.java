// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.manifest.ManifestPart.PartNumber;
import io.penstock.format.manifest.ManifestPart.TokenOrigin;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Inspection;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.StoreFormats;
import io.penstock.store.TokenStore;
import io.penstock.store.integrity.Verification;
import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ManifestStoreTest {

    private static final TokenOrigin ORIGIN = new TokenOrigin("test", "0123456789abcdef".repeat(4));
    private static final String JOB = "f".repeat(64);

    @TempDir
    private Path folder;

    private final List<int[]> documents = new ArrayList<>();

    /** Writes a part of documents of these lengths. */
    private ManifestPart part(String name, Random random, int... lengths) throws IOException {
        Files.createDirectories(folder.resolve(name).getParent());
        try (PartWriter writer = PartWriter.create(folder.resolve(name), DType.U16, ORIGIN, IfExists.FAIL)) {
            for (int length : lengths) {
                int[] tokens = random.ints(length, 0, 60_000).toArray();
                writer.documents().append(tokens, 0, length);
                writer.documents().endDocument();
                documents.add(tokens);
            }
            return writer.commit(Progress.NONE);
        }
    }

    /** Five parts, of which some have no tokens or no documents, in two folders. */
    private Path manifest(int seed) throws IOException {
        Random random = new Random(seed);
        List<ManifestPart> parts = List.of(part("a.attempt-1", random, 5, 0, 12), part("b", random),
                part("sub/c", random, 40, 1), part("d", random, 0, 0), part("e", random, 30));
        Path file = folder.resolve("all.manifest.json");
        List<ManifestPart> placed = new ArrayList<>(parts);
        placed.set(2, parts.get(2).in("sub"));
        new Manifest(placed).write(file, IfExists.FAIL);
        return file;
    }

    private Path merged() throws IOException {
        Path prefix = folder.resolve("merged");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            for (int[] document : documents) {
                part.append(document, 0, document.length);
                part.endDocument();
            }
            writer.commit();
        }
        return prefix;
    }

    private static short[] tokens(TokenStore store, long first, long count) {
        short[] all = new short[(int) count];
        int at = 0;
        Span span = new Span();
        int parts = store.parts(first, count);
        for (int part = 0; part < parts; part++) {
            store.locatePart(first, count, part, span);
            short[] piece = span.slice().toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
            System.arraycopy(piece, 0, all, at, piece.length);
            at += piece.length;
        }
        assertEquals(count, at);
        assertThrows(IndexOutOfBoundsException.class, () -> store.locatePart(first, count, parts, span));
        return all;
    }

    @Test
    void everyRangeOfTokensIsThatOfTheMergedStore() throws IOException {
        Path file = manifest(1);
        try (TokenStore store = TokenStore.open(file); TokenStore merged = TokenStore.open(merged())) {
            assertEquals("manifest", StoreFormats.recognize(Location.of(file)).name());
            assertEquals(merged.tokenCount(), store.tokenCount());
            assertEquals(merged.documentCount(), store.documentCount());
            for (long document = 0; document <= merged.documentCount(); document++) {
                assertEquals(merged.documentStart(document), store.documentStart(document), "document " + document);
            }
            for (long first = 0; first <= store.tokenCount(); first++) {
                for (long count = 0; count <= store.tokenCount() - first; count++) {
                    assertArrayEquals(tokens(merged, first, count), tokens(store, first, count),
                            first + ", " + count);
                }
            }
            assertFalse(store.isOneRun());
            assertTrue(store.documentsAreRuns());
            assertThrows(UnsupportedOperationException.class, () -> store.locate(0, store.tokenCount(), new Span()));
            for (long[] bad : new long[][] {{-1, 1}, {0, 89}, {88, 1}, {89, 0}, {0, -1}}) {
                assertThrows(IndexOutOfBoundsException.class, () -> store.parts(bad[0], bad[1]));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> store.documentStart(9));
        }
    }

    @Test
    void batchesOfWindowsAreThoseOfTheMergedStore() throws IOException {
        Path file = manifest(2);
        try (TokenStore store = TokenStore.open(file); TokenStore merged = TokenStore.open(merged());
                Device device = Device.host();
                DataLoader left = windows(store, device); DataLoader right = windows(merged, device)) {
            int batches = 0;
            for (; left.hasNext(); batches++) {
                try (Batch batch = left.next(); Batch other = right.next()) {
                    assertArrayEquals(other.tensor("tokens").segment().toArray(ValueLayout.JAVA_BYTE),
                            batch.tensor("tokens").segment().toArray(ValueLayout.JAVA_BYTE));
                }
            }
            assertEquals(4, batches);
            assertFalse(right.hasNext());
        }
    }

    private static DataLoader windows(TokenStore store, Device device) {
        return DataLoader.builder(TokenWindows.of(store, 8)).batchSize(3).shuffle(5).endEpoch(1).device(device).open();
    }

    @Test
    void inspectionHasTheDigestOfTheMergedTokens() throws IOException {
        Path file = manifest(3);
        Inspection.Array tokens = Inspection.of(file, Inspection.Depth.CONTENT).arrays().getFirst();
        Inspection.Array expected = Inspection.of(merged(), Inspection.Depth.CONTENT).arrays().stream()
                .filter(array -> array.name().equals("tokens")).findFirst().orElseThrow();
        assertEquals(expected, tokens);
    }

    @Test
    void theFingerprintIsThatOfTheContentWhateverTheAttempts() throws IOException {
        String first = fingerprint(List.of(part("x.0", new Random(1), 3), part("y.0", new Random(2), 4)));
        assertEquals(first, fingerprint(List.of(part("x.1", new Random(1), 3), part("y.9", new Random(2), 4))));
        assertFalse(first.equals(fingerprint(List.of(part("x.2", new Random(1), 3), part("y.2", new Random(3), 4)))));
    }

    private String fingerprint(List<ManifestPart> parts) throws IOException {
        Path file = folder.resolve("f.manifest.json");
        new Manifest(parts).write(file, IfExists.REPLACE);
        try (TokenStore store = TokenStore.open(file)) {
            return store.fingerprint();
        }
    }

    @Test
    void isFoundByThePrefixOfItsName() throws IOException {
        manifest(4);
        try (TokenStore store = TokenStore.open(folder.resolve("all"))) {
            assertEquals(88, store.tokenCount());
        }
    }

    @Test
    void aManifestOfOneFilledPartIsOneRun() throws IOException {
        Path file = folder.resolve("one.manifest.json");
        new Manifest(List.of(part("p", new Random(1)), part("q", new Random(1), 9, 1), part("r", new Random(1), 0)))
                .write(file, IfExists.FAIL);
        try (TokenStore store = TokenStore.open(file)) {
            assertTrue(store.isOneRun());
            Span all = new Span();
            store.locate(0, 10, all);
            assertEquals(20, all.byteSize());
        }
        Path empty = folder.resolve("none.manifest.json");
        new Manifest(List.of(ManifestPart.read(Location.of(folder.resolve("p"))))).write(empty, IfExists.FAIL);
        try (TokenStore store = TokenStore.open(empty)) {
            assertEquals(0, store.documentCount());
            assertEquals(0, store.documentStart(0));
            store.locate(0, 0, new Span());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"e.idx", "e.bin", "sub/c.idx", "b.bin"})
    void refusesAStoreOfWhichAPartIsMissing(String name) throws IOException {
        Path file = manifest(5);
        Files.delete(folder.resolve(name));
        Exception e = assertThrows(MalformedStoreException.class, () -> TokenStore.open(file));
        assertTrue(e.getMessage().startsWith(folder.resolve(name) + ": "), e.getMessage());
        assertTrue(e.getMessage().contains("no such file"), e.getMessage());
    }

    @Test
    void refusesAPartThatIsAnother() throws IOException {
        Path file = manifest(6);
        for (String ending : List.of(".idx", ".bin", ".sha256", ".idx.crc32c", ".bin.crc32c", ".part.json")) {
            Files.delete(folder.resolve("e" + ending));
        }
        part("e", new Random(9), 15, 15);
        Exception e = assertThrows(MalformedStoreException.class, () -> TokenStore.open(file));
        assertTrue(e.getMessage().startsWith(folder.resolve("e.idx") + ": 82 bytes, expected 62"),
                e.getMessage());
    }

    @Test
    void verifyFindsAByteThatDiffersAndNamesThePart() throws Exception {
        Path file = manifest(7);
        Verification good = verified(file);
        assertTrue(good.isGood());
        assertEquals(List.of("structure"), good.files().getFirst().checks());
        assertTrue(good.files().stream().skip(1).allMatch(part -> part.checks().contains("manifest digests")));
        try (RandomAccessFile bin = new RandomAccessFile(folder.resolve("sub/c.bin").toFile(), "rw")) {
            bin.seek(20);
            int value = bin.read();
            bin.seek(20);
            bin.write(value ^ 1);
        }
        for (String ending : List.of(".sha256", ".bin.crc32c")) {
            Files.delete(folder.resolve("sub/c" + ending));
        }
        Verification found = verified(file);
        assertEquals(1, found.faults().size(), found.toString());
        assertEquals("manifest digests", found.faults().getFirst().check());
        assertTrue(found.faults().getFirst().message().startsWith(folder.resolve("sub/c.bin") + ": SHA-256 "),
                found.toString());
    }

    private static Verification verified(Path file) throws IOException, InterruptedException {
        return Verification.run(Location.of(file), OpenOptions.DEFAULT, 1, Progress.NONE);
    }

    @Test
    void writingRefusesPartsThatAreNotThereAndKeepsAManifest() throws IOException {
        Path file = manifest(8);
        Manifest manifest = Manifest.read(Location.of(file));
        assertThrows(FileAlreadyExistsException.class, () -> manifest.write(file, IfExists.FAIL));
        manifest.write(file, IfExists.REPLACE);
        Exception e = assertThrows(MalformedStoreException.class,
                () -> manifest.write(folder.resolve("sub/elsewhere.manifest.json"), IfExists.FAIL));
        assertTrue(e.getMessage().startsWith(folder.resolve("sub/a.attempt-1.bin") + ": no such file"),
                e.getMessage());
        assertFalse(Files.exists(folder.resolve("sub/elsewhere.manifest.json")));
    }

    // ---- which parts belong together

    private static ManifestPart numbered(int index, int count, String job) {
        return new ManifestPart("p" + index + "of" + count, DType.U16, ORIGIN,
                Optional.of(new PartNumber(index, count, job)), 1, 2, JOB, 62, JOB);
    }

    @Test
    void numberedPartsAreOrderedAndAllMustBeThere() {
        List<ManifestPart> parts = List.of(numbered(2, 3, JOB), numbered(0, 3, JOB), numbered(1, 3, JOB));
        assertEquals(List.of("p0of3", "p1of3", "p2of3"),
                Manifest.of(parts).parts().stream().map(ManifestPart::path).toList());
        refuses("found 2 of 3 parts, without [1]", parts.get(0), parts.get(1));
        refuses("found 1 of 20 parts, without [0, 1, 2, 3, 4, 5, 6, 7] and others", numbered(19, 20, JOB));
        refuses("found 2 of 2147483647 parts, without [0, 2, 3, 4, 5, 6, 7, 8] and others",
                numbered(1, Integer.MAX_VALUE, JOB), numbered(Integer.MAX_VALUE - 1, Integer.MAX_VALUE, JOB));
        refuses("found part 1 of 3 twice, as p1of3 and q, expected the one to count", parts.get(2),
                new ManifestPart("q", DType.U16, ORIGIN, parts.get(2).number(), 1, 2, JOB, 62, JOB));
        refuses("part p1of2: found a job of this many parts: 2, expected 3 as in p2of3", parts.get(0),
                numbered(1, 2, JOB));
        refuses("part p1of3: found a job of this input and these options: " + "e".repeat(64) + ", expected " + JOB
                + " as in p2of3", parts.get(0), numbered(1, 3, "e".repeat(64)));
        ManifestPart loose = new ManifestPart("l", DType.U16, ORIGIN, Optional.empty(), 1, 2, JOB, 62, JOB);
        refuses("part l: has no number, expected one of 3 as p2of3", parts.get(0), loose);
        refuses("part p2of3: is part 2 of a job, expected one without a number as l", loose, parts.get(0));
    }

    @Test
    void partsOfOneStoreHaveOneTypeAndTokenizerAndNamesWithinTheFolder() {
        ManifestPart first = new ManifestPart("a", DType.U16, ORIGIN, Optional.empty(), 1, 2, JOB, 62, JOB);
        refuses("part b: found dtype i32, expected u16 as in a", first,
                new ManifestPart("b", DType.I32, ORIGIN, Optional.empty(), 1, 2, JOB, 62, JOB));
        refuses("part b: found tokenizer test (ffffffffffff…), expected test (0123456789ab…) as in a", first,
                new ManifestPart("b", DType.U16, new TokenOrigin("test", JOB), Optional.empty(), 1, 2, JOB, 62,
                        JOB));
        refuses("found part a twice", first, first);
        refuses("found no parts, expected at least one");
        for (String path : List.of("../a", "/a", "a/../b", "", "a//b", "a\\b")) {
            assertThrows(IllegalArgumentException.class, () -> new ManifestPart(path, DType.U16, ORIGIN,
                    Optional.empty(), 1, 2, JOB, 62, JOB), path);
        }
    }

    private static void refuses(String message, ManifestPart... parts) {
        Exception e = assertThrows(IllegalArgumentException.class, () -> Manifest.of(Arrays.asList(parts)));
        assertEquals(message, e.getMessage());
    }

    @Test
    void aDescriptionIsTheSameAsATextAndAsAFile() throws IOException {
        ManifestPart part = part("x", new Random(1), 3);
        assertEquals(part, ManifestPart.parse(part.toJson()));
        for (String name : List.of("x", "x.idx", "x.bin", "x.part.json")) {
            assertEquals(part, ManifestPart.read(Location.of(folder.resolve(name))));
        }
        assertEquals(numbered(1, 3, JOB), ManifestPart.parse(numbered(1, 3, JOB).toJson()));
        Files.move(folder.resolve("x.part.json"), folder.resolve("y.part.json"));
        Exception e = assertThrows(MalformedStoreException.class,
                () -> ManifestPart.read(Location.of(folder.resolve("y"))));
        assertTrue(e.getMessage().contains("the description of x"), e.getMessage());
    }

    @Test
    void aStoreOfMoreFilesThanAProcessMayHaveOpenGivesTheBatchesOfTheMergedStore() throws Exception {
        ManifestPart one = part("one", new Random(4), 30, 7);
        Path parts = Files.createDirectory(folder.resolve("parts"));
        List<ManifestPart> copies = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            for (String ending : List.of(".bin", ".idx")) {
                Files.createLink(parts.resolve("p" + i + ending), folder.resolve("one" + ending));
            }
            copies.add(new ManifestPart("parts/p" + i, one.dtype(), one.origin(), Optional.empty(), one.documents(),
                    one.tokens(), one.tokenSha256(), one.indexBytes(), one.indexSha256()));
        }
        Path file = folder.resolve("many.manifest.json");
        new Manifest(copies).write(file, IfExists.FAIL);
        List<int[]> both = List.copyOf(documents);
        for (int i = 1; i < copies.size(); i++) {
            documents.addAll(both);
        }
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(List.of("sh", "-c", "ulimit -n 150 && exec \"$@\"", "sh"));
        command.addAll(JavaCommand.of("-Xmx128m"));
        command.addAll(List.of(Reader.class.getName(), file.toString()));
        Process reader = new ProcessBuilder(command).redirectOutput(output.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertEquals(0, reader.waitFor());
        assertEquals(Reader.digest(merged(), ReadMode.MMAP) + "\n", Files.readString(output));
    }

    /** Prints a digest of the batches of a store, read by calls. */
    static final class Reader {

        public static void main(String[] arguments) throws IOException {
            System.out.println(digest(Path.of(arguments[0]), ReadMode.PREAD));
        }

        static String digest(Path path, ReadMode mode) throws IOException {
            CRC32C sum = new CRC32C();
            try (TokenStore store = TokenStore.open(path);
                    DataLoader loader = DataLoader.builder(TokenWindows.of(store, 16)).batchSize(8).shuffle(1)
                            .readMode(mode).workers(2).open()) {
                for (Batch batch : loader.epoch(0)) {
                    try (batch) {
                        sum.update(batch.tensor("tokens").segment().asByteBuffer());
                    }
                }
            }
            return Long.toHexString(sum.getValue());
        }
    }
}
