// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.store.IfExists;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The format of block checksums, byte by byte, and what is refused of it. */
class BlockChecksumsTest {

    private static final int BLOCK = BlockChecksums.DEFAULT_BLOCK_BYTES;

    @TempDir
    private Path folder;

    /** CRC-32C bit by bit, from its definition in RFC 3720. */
    private static int crc32c(byte[] bytes, int from, int to) {
        int crc = ~0;
        for (int i = from; i < to; i++) {
            crc ^= bytes[i] & 0xFF;
            for (int bit = 0; bit < 8; bit++) {
                crc = crc >>> 1 ^ ((crc & 1) == 0 ? 0 : 0x82F63B78);
            }
        }
        return ~crc;
    }

    private Path file(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new SplittableRandom(bytes).nextBytes(content);
        return Files.write(folder.resolve("data-" + bytes), content);
    }

    @Test
    void theReferenceOfThisTestIsThatOfTheRfc() {
        byte[] ones = new byte[32];
        Arrays.fill(ones, (byte) 0xFF);
        assertEquals(0x8A9136AA, crc32c(new byte[32], 0, 32));
        assertEquals(0x62A8AB43, crc32c(ones, 0, 32));
    }

    @Test
    void theFileIsAsItsFormatSaysToTheByte() throws IOException {
        for (int bytes : new int[] {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 17 * BLOCK + 12_345}) {
            Path file = file(bytes);
            BlockChecksums written = BlockChecksums.write(file, IfExists.FAIL, _ -> { });
            byte[] content = Files.readAllBytes(file);
            int blocks = (bytes + BLOCK - 1) / BLOCK;
            ByteBuffer expected = ByteBuffer.allocate(28 + 4 * blocks).order(ByteOrder.LITTLE_ENDIAN)
                    .put(new byte[] {(byte) 0x89, 'C', '3', '2', 'C', '\r', '\n', 0x1A})
                    .putInt(1).putInt(BLOCK).putLong(bytes);
            for (int b = 0; b < blocks; b++) {
                expected.putInt(crc32c(content, b * BLOCK, Math.min(bytes, (b + 1) * BLOCK)));
            }
            expected.putInt(crc32c(expected.array(), 0, 24 + 4 * blocks));
            assertArrayEquals(expected.array(), Files.readAllBytes(BlockChecksums.pathFor(file)));
            assertEquals(written, BlockChecksums.read(Location.of(file)));
            BlockChecksums.Sums asWritten = new BlockChecksums.Sums();
            for (int at = 0; at < bytes; at += 50_000) {
                asWritten.add(ByteBuffer.wrap(content, at, Math.min(50_000, bytes - at)));
            }
            assertEquals(written, asWritten.of(Location.of(file)));
        }
    }

    @Test
    void blocksOfAnotherSizeAreReadToo() throws IOException {
        byte[] content = new byte[10_000];
        Path file = Files.write(folder.resolve("data"), content);
        ByteBuffer sidecar = ByteBuffer.allocate(28 + 12).order(ByteOrder.LITTLE_ENDIAN)
                .put(new byte[] {(byte) 0x89, 'C', '3', '2', 'C', '\r', '\n', 0x1A})
                .putInt(1).putInt(4096).putLong(10_000).putInt(crc32c(content, 0, 4096))
                .putInt(crc32c(content, 0, 4096)).putInt(crc32c(content, 0, 10_000 - 8192));
        sidecar.putInt(crc32c(sidecar.array(), 0, 36));
        Files.write(BlockChecksums.pathFor(file), sidecar.array());
        assertEquals(BlockChecksums.compute(Location.of(file), 4096, _ -> { }), BlockChecksums.read(Location.of(file)));
        for (int wrong : new int[] {0, 4095, 4097, 2048, 128 << 20, -4096, Integer.MIN_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> BlockChecksums.compute(Location.of(file), wrong, _ ->
                    { }));
        }
    }

    @Test
    void checksumsThatAreThereAreReplacedOnlyIfThatWasSaid() throws IOException {
        Path file = file(100);
        BlockChecksums first = BlockChecksums.write(file, IfExists.FAIL, _ -> { });
        Files.write(file, new byte[100]);
        assertThrows(FileAlreadyExistsException.class, () -> BlockChecksums.write(file, IfExists.FAIL, _ -> { }));
        assertEquals(first, BlockChecksums.read(Location.of(file)));
        assertFalse(first.equals(BlockChecksums.write(file, IfExists.REPLACE, _ -> { })));
        assertEquals(List.of("data-100", "data-100.crc32c"), Folders.names(folder));
    }

    @Test
    void whatIsNoFileOrHasNoChecksumsIsSaidSo() throws IOException {
        assertNull(BlockChecksums.read(Location.of(file(5))));
        assertThrows(NoSuchFileException.class,
                () -> BlockChecksums.write(folder.resolve("absent"), IfExists.FAIL, _ -> { }));
        assertThrows(MalformedStoreException.class, () -> BlockChecksums.compute(Location.of(folder), 4096, _ -> { }));
    }

    @Test
    void checksumsThatAreDamagedAreRefusedInOneLineThatNamesThem() throws IOException {
        Path file = file(3 * BLOCK);
        BlockChecksums.write(file, IfExists.FAIL, _ -> { });
        byte[] good = Files.readAllBytes(BlockChecksums.pathFor(file));
        for (int i = 0; i < good.length; i++) {
            int at = i;
            assertRefused(file, good.length, good, bytes -> bytes[at] ^= 1);
        }
        for (int length : new int[] {0, 1, 27, good.length - 4, good.length - 1, good.length + 4}) {
            assertRefused(file, length, good, _ -> { });
        }
        assertRefused(file, good.length, good, bytes -> Arrays.fill(bytes, 16, 24, (byte) 0xFF));
    }

    private static void assertRefused(Path file, int length, byte[] good, Consumer<byte[]> damage)
            throws IOException {
        byte[] bytes = Arrays.copyOf(good, length);
        damage.accept(bytes);
        Files.write(BlockChecksums.pathFor(file), bytes);
        String message = assertThrows(MalformedStoreException.class, () ->
                BlockChecksums.read(Location.of(file))).getMessage();
        assertTrue(message.startsWith(file + ".crc32c: ") && message.lines().count() == 1, message);
    }
}
