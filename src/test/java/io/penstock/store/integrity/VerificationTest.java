// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.format.npy.NpyWriter;
import io.penstock.io.Location;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.integrity.Verification.CheckedFile;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** What was damaged is found, to the block, and what was not is not. */
class VerificationTest {

    private static final long SEED = 20261121;
    private static final int FILES_OF_A_KIND = 12;

    @TempDir
    private static Path folder;

    private static Verification verify(Path path) throws IOException, InterruptedException {
        return Verification.run(Location.of(path), OpenOptions.DEFAULT, 2, Progress.NONE);
    }

    @TestFactory
    Stream<DynamicTest> aFlippedBitInAFileOfAnyKindIsFoundByItsBlock() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        try (Stream<Path> kinds = Files.list(Fixtures.path("manifest.json").getParent())) {
            for (Path kind : kinds.filter(Files::isDirectory).sorted().toList()) {
                tests.add(DynamicTest.dynamicTest(kind.getFileName().toString(), () -> checkKind(kind)));
            }
        }
        return tests.stream();
    }

    private static void checkKind(Path kind) throws IOException, InterruptedException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(kind)) {
            files = all.filter(file -> Files.isRegularFile(file) && file.toFile().length() > 0).sorted()
                    .limit(FILES_OF_A_KIND).toList();
        }
        var random = new SplittableRandom(SEED ^ kind.getFileName().toString().hashCode());
        Path home = Files.createDirectories(folder.resolve(kind.getFileName()));
        for (int i = 0; i < files.size(); i++) {
            Path copy = home.resolve(i + "-" + files.get(i).getFileName());
            byte[] bytes = Files.readAllBytes(files.get(i));
            Files.write(copy, bytes);
            BlockChecksums.write(copy, IfExists.FAIL, _ -> { });
            assertTrue(verify(copy).faults().stream().noneMatch(fault -> fault.check().equals("crc32c")),
                    () -> "undamaged: " + copy);
            int at = random.nextInt(bytes.length);
            bytes[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(copy, bytes);
            Fault found = verify(copy).faults().stream().filter(fault -> fault.check().equals("crc32c")).findFirst()
                    .orElseThrow(() -> new AssertionError("seed " + SEED + ", byte " + at + " of " + copy));
            assertEquals(Location.of(copy), found.file());
            assertTrue(found.firstByte() <= at && at < found.endByte()
                    && found.endByte() - found.firstByte() <= BlockChecksums.DEFAULT_BLOCK_BYTES, found.toString());
            assertTrue(found.message().startsWith(copy + ": at byte ") && found.message().lines().count() == 1);
        }
    }

    @Test
    void aWrittenStoreIsGoodAndAFlippedBitIsFoundByBlocksAndDigest() throws Exception {
        Path prefix = folder.resolve("written");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            try (MegatronPart part = writer.part()) {
                for (int d = 0; d < 50; d++) {
                    int[] tokens = new SplittableRandom(d).ints(5_000, 0, 50_000).toArray();
                    part.append(tokens, 0, tokens.length);
                    part.endDocument();
                }
            }
            writer.commit();
        }
        Verification good = verify(prefix);
        assertEquals(List.of(), good.faults());
        assertEquals("megatron", good.kind());
        assertEquals(List.of(List.of("structure", "crc32c", "sha256"), List.of("structure", "crc32c", "sha256")),
                good.files().stream().map(CheckedFile::checks).toList());
        Path bin = Path.of(prefix + ".bin");
        byte[] bytes = Files.readAllBytes(bin);
        bytes[300_000] ^= 4;
        bytes[400_000] ^= 4;
        bytes[480_000] ^= 4;
        Files.write(bin, bytes);
        List<Fault> faults = verify(prefix).faults();
        assertEquals(List.of("sha256", "crc32c", "crc32c"), faults.stream().map(Fault::check).toList());
        assertEquals(List.of(4L, 6L), faults.stream().skip(1).map(Fault::firstBlock).toList());
        assertEquals(393_216, faults.get(2).firstByte());
        assertEquals(500_000, faults.get(2).endByte());
        assertTrue(faults.get(2).message().endsWith("(and the following blocks up to byte 500000)"),
                faults.get(2).message());
    }

    @Test
    void aFileThatWasCutOrGrewIsNotTheOneThatWasChecksummed() throws Exception {
        for (int bytes : new int[] {0, 1, 70_000, 99_999, 100_001, 200_000}) {
            Path file = folder.resolve("resized-" + bytes);
            Files.write(file, new byte[100_000]);
            BlockChecksums.write(file, IfExists.FAIL, _ -> { });
            Files.write(file, new byte[bytes]);
            List<Fault> faults = verify(file).faults();
            assertFalse(faults.isEmpty());
            assertTrue(faults.getFirst().message().contains(bytes + " bytes, expected 100000"), faults.toString());
        }
    }

    @Test
    void anArrayOfOurWriterHasChecksumsAndItsStructureIsCheckedToo() throws Exception {
        Path file = folder.resolve("array.npy");
        NpyWriter.write(file, Tensor.of(MemorySegment.ofArray(new byte[400]), DType.F32, 10, 10), IfExists.FAIL);
        assertEquals(List.of("structure", "crc32c"), verify(file).files().getFirst().checks());
        byte[] bytes = Files.readAllBytes(file);
        bytes[0] = 0;
        Files.write(file, bytes);
        assertEquals(List.of("structure", "crc32c"), verify(file).faults().stream().map(Fault::check).toList());
    }

    @Test
    void aListingOfDigestsIsTakenUnderEachOfItsNames() throws Exception {
        Path home = Files.createDirectories(folder.resolve("listed"));
        Path file = Files.write(home.resolve("a b.bin"), new byte[] {1, 2, 3, 4});
        String right = "9f64a747e1b97f131fabb6b447296c9b6f0201e79fb3c5356e6c77e89b6a806a";
        for (String name : List.of("a b.sha256", "a b.bin.sha256", "SHA256SUMS", "sha256sums.txt")) {
            for (String line : List.of("%s  a b.bin\n", "%s *a b.bin\r\n", "# comment\n%s  ./a b.bin")) {
                Path listing = home.resolve(name);
                Files.writeString(listing, line.formatted(right.toUpperCase(java.util.Locale.ROOT)));
                assertEquals(List.of("structure", "sha256"), verify(file).files().getFirst().checks(), name + line);
                assertTrue(verify(file).isGood());
                Files.writeString(listing, line.formatted("0".repeat(64)));
                String message = verify(file).faults().getFirst().message();
                assertTrue(message.contains(right) && message.contains(name), message);
                Files.delete(listing);
            }
        }
    }

    @Test
    void aFolderThatIsAbsentIsAnError() {
        assertThrows(NoSuchFileException.class, () -> verify(folder.resolve("absent")));
    }

    @Test
    void whatIsConvertedIsReadToItsEnd() throws Exception {
        Path converted = Fixtures.path("npy/be_f4_4d_F.npy");
        assertEquals(List.of("structure", "content"), verify(converted).files().getFirst().checks());
    }
}
