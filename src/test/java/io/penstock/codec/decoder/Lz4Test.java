// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.internal.Sha256;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Frames that the {@code lz4} command line wrote, blocks written by hand, and what damage makes of both. */
class Lz4Test {

    private static final long SEED = Long.getLong("penstock.fuzz.seed", 20261121);
    private static final int GUARD_BYTES = 16;
    private static final byte GUARD = 0x5A;

    private record Frame(String sha256, int size, byte[] bytes, String name) {
    }

    private static List<Frame> frames() throws IOException {
        Path folder;
        try {
            folder = Path.of(Lz4Test.class.getResource("/lz4/truth").toURI()).getParent();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
        List<Frame> frames = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve("truth"))) {
            String[] words = line.split(" ");
            frames.add(new Frame(words[0], Integer.parseInt(words[1]),
                    Files.readAllBytes(folder.resolve(words[2])), words[2]));
        }
        return frames;
    }

    private interface Decoder {
        void decode(MemorySegment source, MemorySegment target);
    }

    /** Decodes between guards: the source ends where its memory ends, and behind the target nothing changes. */
    private static byte[] decode(Decoder decoder, byte[] packed, int size) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = MemorySegment.ofArray(packed);
            MemorySegment memory = arena.allocate(size + 2L * GUARD_BYTES).fill(GUARD);
            try {
                decoder.decode(source, memory.asSlice(GUARD_BYTES, size));
            } finally {
                for (int i = 0; i < GUARD_BYTES; i++) {
                    assertEquals(GUARD, memory.get(ValueLayout.JAVA_BYTE, i));
                    assertEquals(GUARD, memory.get(ValueLayout.JAVA_BYTE, GUARD_BYTES + size + i));
                }
            }
            return memory.asSlice(GUARD_BYTES, size).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static String sha256(byte[] bytes) {
        return Sha256.hex(MemorySegment.ofArray(bytes), _ -> { });
    }

    @TestFactory
    Stream<DynamicTest> framesDecodeToWhatWasCompressed() throws IOException {
        return frames().stream().map(frame -> DynamicTest.dynamicTest(frame.name, () ->
                assertEquals(frame.sha256, sha256(decode(Lz4::decompress, frame.bytes, frame.size)))));
    }

    @Test
    void aFrameOfAnotherSizeIsRefused() throws IOException {
        for (Frame frame : frames()) {
            assertThrows(CodecException.class, () -> decode(Lz4::decompress, frame.bytes, frame.size + 1), frame.name);
            if (frame.size > 0) {
                assertThrows(CodecException.class, () -> decode(Lz4::decompress, frame.bytes, frame.size - 1));
            }
        }
    }

    /** Every frame here has a checksum of its content or of its blocks: no damage to them goes by. */
    @Tag("slow")
    @Test
    void aDamagedFrameIsRefusedAndNothingIsWrittenBesideTheTarget() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        for (Frame frame : frames()) {
            for (int i = 0; i < Thorough.times(80, 300); i++) {
                byte[] bytes = frame.bytes.clone();
                int at = random.nextInt(bytes.length);
                bytes[at] ^= (byte) (1 << random.nextInt(8));
                try {
                    byte[] decoded = decode(Lz4::decompress, bytes, frame.size);
                    assertEquals(frame.sha256, sha256(decoded), "seed " + SEED + ", " + frame.name + ", byte " + at);
                } catch (CodecException e) {
                    assertTrue(e.getMessage().startsWith("lz4: "), e.getMessage());
                }
                byte[] cut = Arrays.copyOf(frame.bytes, at);
                if (!frame.name.equals("two.lz4")) {
                    assertThrows(CodecException.class, () -> decode(Lz4::decompress, cut, frame.size));
                }
            }
        }
    }

    @Test
    void aBlockIsLiteralsAndMatchesThatMayOverlapWhatTheyWrite() {
        // Token 0x40: 4 literals and a match of 4; 0x0F with 1: a match of 20; the last sequence has literals alone.
        byte[] packed = {0x40, 'a', 'b', 'c', 'd', 4, 0, 0x0F, 1, 0, 1, 0x20, 'y', 'z'};
        assertEquals("abcdabcd" + "d".repeat(20) + "yz",
                new String(decode(Lz4::decompressBlock, packed, 30), StandardCharsets.US_ASCII));
        assertArrayEquals(new byte[0], decode(Lz4::decompressBlock, new byte[] {0}, 0));
        for (int end = 0; end < packed.length; end++) {
            byte[] cut = Arrays.copyOf(packed, end);
            assertThrows(CodecException.class, () -> decode(Lz4::decompressBlock, cut, 30));
        }
        for (byte[] bad : new byte[][] {{0x10, 'a', 0, 0, 0}, {0x10, 'a', 2, 0, 0}, {(byte) 0xF0, -1, -1}}) {
            assertThrows(CodecException.class, () -> decode(Lz4::decompressBlock, bad, 64));
        }
    }

    /** Each distance and length against a loop over bytes, with room behind the match and without. */
    @Test
    void everyDistanceAndLengthIsCopiedAsByteByByte() {
        for (int distance = 1; distance <= 40; distance++) {
            for (int length : new int[] {4, 5, 7, 8, 9, 15, 18, 19, 33, 64, 65, 100, 270, 300}) {
                for (int tail : new int[] {0, 3, 30}) {
                    List<Integer> packed = new ArrayList<>();
                    byte[] expected = new byte[40 + length + tail];
                    packed.add(0xF0 | Math.min(15, length - 4));
                    packed.add(25);
                    for (int i = 0; i < 40; i++) {
                        expected[i] = (byte) (i * 7 + 1);
                        packed.add((int) expected[i]);
                    }
                    packed.add(distance);
                    packed.add(0);
                    if (length >= 19) {
                        for (int left = length - 19; ; left -= 255) {
                            packed.add(Math.min(left, 255));
                            if (left < 255) {
                                break;
                            }
                        }
                    }
                    for (int i = 40; i < 40 + length; i++) {
                        expected[i] = expected[i - distance];
                    }
                    packed.add(Math.min(tail, 15) << 4);
                    if (tail >= 15) {
                        packed.add(tail - 15);
                    }
                    for (int i = 0; i < tail; i++) {
                        packed.add(99);
                        expected[40 + length + i] = 99;
                    }
                    byte[] bytes = new byte[packed.size()];
                    for (int i = 0; i < bytes.length; i++) {
                        bytes[i] = packed.get(i).byteValue();
                    }
                    assertArrayEquals(expected, decode(Lz4::decompressBlock, bytes, expected.length),
                            "distance " + distance + ", length " + length);
                }
            }
        }
    }

    @Test
    void theChecksumIsThatOfThePublishedVectors() {
        assertEquals(0x02CC5D05, hash(""));
        assertEquals(0x550D7456, hash("a"));
        assertEquals(0x32D153FF, hash("abc"));
        assertEquals(0xE2293B2F, hash("Nobody inspects the spammish repetition"));
    }

    private static int hash(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return XxHash32.hash(MemorySegment.ofArray(bytes), 0, bytes.length);
    }
}
