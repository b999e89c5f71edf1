// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Blocks by hand; what LibLZF itself wrote is in the fixtures of HDF5. */
class LzfTest {

    private static byte[] block(int... bytes) {
        byte[] block = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            block[i] = (byte) bytes[i];
        }
        return block;
    }

    private static String decoded(int... bytes) {
        MemorySegment source = MemorySegment.ofArray(block(bytes));
        byte[] target = new byte[(int) Lzf.decodedSize(source)];
        Lzf.decompress(source, MemorySegment.ofArray(target));
        return new String(target, StandardCharsets.ISO_8859_1);
    }

    @Test
    void literalsAndCopiesShortLongAndOverlapping() {
        assertEquals("", decoded());
        assertEquals("abc", decoded(2, 'a', 'b', 'c'));
        assertEquals("abcabc", decoded(2, 'a', 'b', 'c', 1 << 5, 2));
        assertEquals("aaaa", decoded(0, 'a', 1 << 5, 0));
        assertEquals("ab".repeat(7), decoded(1, 'a', 'b', 7 << 5, 3, 1));
        assertEquals("x" + "x".repeat(264), decoded(0, 'x', 7 << 5, 255, 0));
    }

    @Test
    void whatIsCutOrReachesBackTooFarOrHasAnotherSizeIsAnError() {
        assertThrows(CodecException.class, () -> decoded(2, 'a', 'b'));
        assertThrows(CodecException.class, () -> decoded(0, 'a', 1 << 5));
        assertThrows(CodecException.class, () -> decoded(0, 'a', 7 << 5, 3));
        assertThrows(CodecException.class, () -> decoded(0, 'a', 1 << 5, 1));
        for (int size : new int[] {2, 4}) {
            assertThrows(CodecException.class, () -> Lzf.decompress(MemorySegment.ofArray(block(2, 'a', 'b', 'c')),
                    MemorySegment.ofArray(new byte[size])));
        }
    }

    @Test
    void anyBytesAreDecodedOrRefused() {
        SplittableRandom random = new SplittableRandom(11);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(60)];
            random.nextBytes(bytes);
            try {
                MemorySegment source = MemorySegment.ofArray(bytes);
                long size = Lzf.decodedSize(source);
                assertTrue(size <= 88L * bytes.length);
                Lzf.decompress(source, MemorySegment.ofArray(new byte[(int) size]));
            } catch (CodecException _) {
                refused++;
            }
        }
        assertTrue(refused > 1000 && refused < 20_000, "refused " + refused);
    }
}
