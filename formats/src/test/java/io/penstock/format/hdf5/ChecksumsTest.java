// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ChecksumsTest {

    /** The values that {@code lookup3.c} itself states. */
    @Test
    void lookup3HasItsPublishedValues() {
        assertEquals(0xdeadbeef, lookup3(""));
        assertEquals(0x17770551, lookup3("Four score and seven years ago"));
    }

    private static int lookup3(String text) {
        byte[] bytes = ("~" + text).getBytes(StandardCharsets.US_ASCII);
        return Lookup3.hash(MemorySegment.ofArray(bytes), 1, bytes.length - 1);
    }

    /** Fletcher's published vectors, for words that come most significant byte first. */
    @Test
    void fletcher32HasThePublishedValuesOfItsWords() {
        assertEquals(0x56502D2A, fletcher("badcfe"));
        assertEquals(0xEBE19591, fletcher("badcfehg"));
    }

    private static int fletcher(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return Fletcher32.of(bytes, bytes.length);
    }

    /** The sums of more words than fit without folding, against the definition. */
    @Test
    void fletcher32OfManyWordsIsThatOfItsDefinition() {
        byte[] bytes = new byte[100_001];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31 + 200);
        }
        long sum1 = 0;
        long sum2 = 0;
        for (int i = 0; i < bytes.length; i += 2) {
            sum1 = (sum1 + ((bytes[i] & 0xFF) << 8) + (i + 1 < bytes.length ? bytes[i + 1] & 0xFF : 0)) % 65535;
            sum2 = (sum2 + sum1) % 65535;
        }
        assertEquals((int) (sum2 << 16 | sum1), Fletcher32.of(bytes, bytes.length));
    }
}
