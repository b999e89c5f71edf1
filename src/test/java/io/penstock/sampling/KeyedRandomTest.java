// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyedRandomTest {
    /** The hashes that the authors of FNV publish. */
    @Test
    void aStepIsTheFnv1aHashOfItsName() {
        assertEquals(0xCBF29CE484222325L, KeyedRandom.step(""));
        assertEquals(0xAF63DC4C8601EC8CL, KeyedRandom.step("a"));
        assertEquals(0x85944171F73967E8L, KeyedRandom.step("foobar"));
        assertEquals(KeyedRandom.step("\u00E9"), KeyedRandom.step(new String(new byte[] {(byte) 0xC3, (byte) 0xA9},
                StandardCharsets.UTF_8)));
        assertThrows(IllegalArgumentException.class, () -> KeyedRandom.step("half \uD83D"));
    }

    @Test
    void wordsDependOnTheKeyAndOnNothingDrawnBefore() {
        var one = new KeyedRandom(7, 2);
        var other = new KeyedRandom(7, 2);
        one.select(5, 1);
        long first = one.nextLong();
        for (int sample = 0; sample < 100; sample++) {
            other.select(sample, 9);
            other.nextLong();
            other.nextDouble();
        }
        other.select(5, 1);
        assertEquals(first, other.nextLong());
        assertEquals(one.nextLong(), other.nextLong());
    }

    @Test
    void everyPartOfTheKeyChangesTheWords() {
        Set<Long> words = new HashSet<>();
        int keys = 0;
        for (long seed = 0; seed < 8; seed++) {
            for (long epoch = 0; epoch < 8; epoch++) {
                var random = new KeyedRandom(seed, epoch);
                for (long sample = 0; sample < 64; sample++) {
                    for (long operation = 0; operation < 8; operation++) {
                        random.select(sample, operation);
                        for (int k = 0; k < 4; k++) {
                            words.add(random.nextLong());
                        }
                        keys++;
                    }
                }
            }
        }
        assertEquals(4 * keys, words.size());       // equal words among 2^17 of 2^64: one chance in 2^31
    }

    /** Each bit of the first word over neighbouring samples and operations: 5 standard deviations. */
    @Test
    void bitsOfNeighbouringKeysAreEvenAndIndependent() {
        int samples = 20_000;
        var random = new KeyedRandom(1, 0);
        long[] ones = new long[64];
        long[] changes = new long[64];
        long[] operationChanges = new long[64];
        long previous = 0;
        for (int sample = 0; sample < samples; sample++) {
            random.select(sample, 1);
            long other = random.nextLong();
            random.select(sample, 0);
            long word = random.nextLong();
            for (int bit = 0; bit < 64; bit++) {
                ones[bit] += word >>> bit & 1;
                changes[bit] += (word ^ previous) >>> bit & 1;
                operationChanges[bit] += (word ^ other) >>> bit & 1;
            }
            previous = word;
        }
        double tolerance = 5 * Math.sqrt(samples) / 2;
        for (int bit = 0; bit < 64; bit++) {
            assertEquals(samples / 2.0, ones[bit], tolerance);
            assertEquals(samples / 2.0, changes[bit], tolerance);
            assertEquals(samples / 2.0, operationChanges[bit], tolerance);
        }
    }

    @Test
    void boundedDrawsAreEvenAndInRange() {
        var random = new KeyedRandom(3, 1);
        int[] counts = new int[33];
        for (int sample = 0; sample < 33_000; sample++) {
            random.select(sample, 4);
            counts[random.nextInt(33)]++;
        }
        double chiSquared = 0;
        for (int count : counts) {
            chiSquared += (count - 1000.0) * (count - 1000.0) / 1000;
        }
        assertTrue(chiSquared < 32 + 5 * Math.sqrt(64), "chi-squared of 32 degrees of freedom: " + chiSquared);
        assertEquals(0, random.nextLong(1));
        assertThrows(IllegalArgumentException.class, () -> random.nextInt(0));
        assertThrows(IllegalArgumentException.class, () -> random.nextLong(-1));
    }
}
