// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Fixtures;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Blocks that Google's library wrote, by way of Arrow, and blocks that nobody should write. */
class SnappyTest {

    private static final int DIGEST_BYTES = 32;

    @Test
    void blocksOfTheReferenceLibraryDecodeToWhatItWasGiven() throws IOException, NoSuchAlgorithmException {
        MemorySegment file = MemorySegment.ofArray(Files.readAllBytes(Fixtures.resource("packed/snappy.bin")));
        int blocks = 0;
        for (long at = 0; at < file.byteSize(); blocks++) {
            int decodedBytes = file.get(LittleEndian.I32, at);
            int blockBytes = file.get(LittleEndian.I32, at + 4);
            byte[] digest = file.asSlice(at + 8, DIGEST_BYTES).toArray(ValueLayout.JAVA_BYTE);
            byte[] block = file.asSlice(at + 8 + DIGEST_BYTES, blockBytes).toArray(ValueLayout.JAVA_BYTE);
            assertArrayEquals(digest, MessageDigest.getInstance("SHA-256").digest(decode(block, decodedBytes)));
            assertTrue(decodedBytes <= (long) Snappy.MAX_EXPANSION * blockBytes, decodedBytes + " of " + blockBytes);
            if (decodedBytes > 0) {
                assertThrows(CodecException.class, () -> decode(block, decodedBytes - 1));
                assertThrows(CodecException.class, () -> decode(java.util.Arrays.copyOf(block, blockBytes - 1),
                        decodedBytes));
            }
            assertThrows(CodecException.class, () -> decode(block, decodedBytes + 1));
            at += 8 + DIGEST_BYTES + blockBytes;
        }
        assertEquals(9, blocks);
    }

    @Test
    void eachElementIsReadAsTheFormatsDescriptionHasIt() throws IOException {
        // "Wikipedia"'s first bytes as a literal; then copies of 1, 2 and 4 bytes of offset, which overlap.
        assertEquals("abcdabcdabc", text("0b 0c 61626364 0d04", 11));
        assertEquals("ababababa", text("09 04 6162 1a0200", 9));
        assertEquals("aaaaa", text("05 00 61 0f01000000", 5));
        assertEquals("abc", text("03 f002 616263", 3));
        assertEquals("abc", text("03 f40200 616263", 3));
        assertEquals("abc", text("03 fc02000000 616263", 3));
        assertEquals("abc", text("8300 08 616263", 3));
    }

    @Test
    void whatIsMalformedIsRefusedWithAWordOnWhat() {
        assertRefused("", 0, "varint");
        assertRefused("ffffffffff01", 1, "varint");
        assertRefused("04 00 61", 3, "decodes to 4 bytes, expected 3");
        assertRefused("03 08 6162", 3, "ends within an element");
        assertRefused("03 08 61626308 616263", 3, "more than its size");
        assertRefused("05 00 61 0d00", 5, "from 0 bytes back");
        assertRefused("05 00 61 0d02", 5, "from 2 bytes back");
        assertRefused("05 00 61 0fffffffff", 5, "from 4294967295 bytes back");
        assertRefused("05 00 61 1a01", 5, "ends within an element");
        assertRefused("05 00 61 0f010000", 5, "ends within an element");
        assertRefused("05 fcffffffff 61", 5, "ends within an element");
        assertRefused("05 00 61", 5, "after 1 bytes of 5");
        assertRefused("04 00 61 1201 00", 4, "more than its size");
    }

    @Test
    void overlappingCopiesOfEveryDistanceAndLengthAreAsByteByByte() throws IOException {
        long seed = 20261121;
        SplittableRandom random = new SplittableRandom(seed);
        for (int offset = 1; offset <= 20; offset++) {
            for (int length = 1; length <= 64; length++) {
                for (int behind : new int[] {0, 1, 7, 8, 40}) {
                    byte[] expected = new byte[offset + length + behind];
                    byte[] block = new byte[2 + 1 + offset + 3 + (behind > 0 ? 1 + behind : 0)];
                    block[0] = (byte) (expected.length | 0x80);
                    block[1] = (byte) (expected.length >>> 7);
                    int at = 2;
                    block[at++] = (byte) (offset - 1 << 2);
                    for (int i = 0; i < offset; i++) {
                        block[at++] = expected[i] = (byte) random.nextInt();
                    }
                    block[at++] = (byte) (length - 1 << 2 | 2);
                    block[at++] = (byte) offset;
                    block[at++] = 0;
                    for (int i = 0; i < length; i++) {
                        expected[offset + i] = expected[i];
                    }
                    if (behind > 0) {
                        block[at++] = (byte) (behind - 1 << 2);
                        for (int i = 0; i < behind; i++) {
                            block[at++] = expected[offset + length + i] = (byte) random.nextInt();
                        }
                    }
                    assertArrayEquals(expected, decode(block, expected.length),
                            "seed " + seed + ": " + offset + " back, " + length + " long, " + behind + " behind");
                }
            }
        }
    }

    private static void assertRefused(String hex, int decodedBytes, String word) {
        String message = assertThrows(CodecException.class, () -> text(hex, decodedBytes)).getMessage();
        assertTrue(message.startsWith("snappy: ") && message.contains(word), message);
    }

    private static String text(String hex, int decodedBytes) throws IOException {
        return new String(decode(HexFormat.of().parseHex(hex.replace(" ", "")), decodedBytes),
                java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    private static byte[] decode(byte[] block, int decodedBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(block.length);
            source.copyFrom(MemorySegment.ofArray(block));
            MemorySegment target = arena.allocate(decodedBytes);
            Snappy.decompress(source, target);
            return target.toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
