// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.internal.SplitMix64;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PermutationTest {

    @Test
    void everySizeUpTo2000IsPermutedOneToOneAndInverted() {
        for (int size = 1; size <= 2000; size++) {
            assertOneToOne(size, 0x5EED ^ size, size % 7);
        }
    }

    @Test
    void randomLargerSizesArePermutedOneToOneAndInverted() {
        SplittableRandom random = new SplittableRandom(20);
        for (int i = 0; i < 12; i++) {
            assertOneToOne(random.nextInt(2001, 400_000), random.nextLong(), random.nextLong());
        }
        // Squares and their neighbours, where the sides of the grid change.
        for (int side : new int[] {32, 33, 100, 512}) {
            assertOneToOne(side * side - 1, 1, 0);
            assertOneToOne(side * side, 1, 0);
            assertOneToOne(side * side + 1, 1, 0);
            assertOneToOne(side * (side + 1), 1, 0);
            assertOneToOne(side * (side + 1) + 1, 1, 0);
        }
    }

    private static void assertOneToOne(int size, long seed, long epoch) {
        String which = "size " + size + " seed " + seed + " epoch " + epoch;
        Permutation permutation = new Permutation(size, seed, epoch);
        BitSet seen = new BitSet(size);
        for (int position = 0; position < size; position++) {
            long sample = permutation.at(position);
            assertTrue(sample >= 0 && sample < size, () -> which + ": " + sample);
            assertFalse(seen.get((int) sample), () -> which + ": twice " + sample);
            seen.set((int) sample);
            assertEquals(position, permutation.positionOf(sample), which);
        }
    }

    @Test
    void hugeSizesInvertAtRandomPositions() {
        SplittableRandom random = new SplittableRandom(21);
        for (int i = 0; i < 20_000; i++) {
            long size = random.nextLong(1, (1L << 62) + 1) >> random.nextInt(50);
            Permutation permutation = new Permutation(Math.max(1, size), random.nextLong(), random.nextLong());
            long position = random.nextLong(permutation.size());
            long sample = permutation.at(position);
            assertTrue(sample >= 0 && sample < permutation.size());
            assertEquals(position, permutation.positionOf(sample));
        }
    }

    @Test
    void theLargestSizeWorksAtBothEnds() {
        long size = 1L << 62;
        Permutation permutation = new Permutation(size, -1, 3);
        for (long position : new long[] {0, 1, size / 2, size - 2, size - 1}) {
            assertEquals(position, permutation.positionOf(permutation.at(position)));
        }
    }

    @Test
    void fillAgreesWithAt() {
        SplittableRandom random = new SplittableRandom(22);
        long[] into = new long[700];
        for (int i = 0; i < 3000; i++) {
            long size = Math.max(1, random.nextLong(1, (1L << 62) + 1) >> random.nextInt(62));
            Permutation permutation = new Permutation(size, random.nextLong(), i);
            long first = random.nextLong(size);
            long stride = 1 + random.nextLong(1L << random.nextInt(62));
            int count = (int) Math.min(random.nextInt(into.length + 1), 1 + (size - 1 - first) / stride);
            permutation.fill(first, stride, count, into);
            for (int k = 0; k < count; k++) {
                assertEquals(permutation.at(first + k * stride), into[k], "size " + size);
            }
        }
    }

    @Test
    void positionsOutsideAreRefused() {
        Permutation permutation = new Permutation(100, 1, 0);
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.at(-1));
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.at(100));
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.positionOf(100));
        long[] into = new long[10];
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.fill(91, 1, 10, into));
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.fill(0, 12, 10, into));
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.fill(0, Long.MAX_VALUE, 2, into));
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.fill(0, 1, 11, into));
        assertThrows(IndexOutOfBoundsException.class, () -> permutation.fill(-1, 1, 1, into));
        assertThrows(IllegalArgumentException.class, () -> permutation.fill(0, 0, 2, into));
        permutation.fill(90, 1, 10, into);
        permutation.fill(100, 1, 0, into);
        assertThrows(IllegalArgumentException.class, () -> new Permutation(0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new Permutation((1L << 62) + 1, 1, 0));
    }

    @Test
    void roundKeysComeFromTheGeneratorThatTheJdkAlsoHas() {
        SplittableRandom reference = new SplittableRandom(42);
        SplitMix64 keys = new SplitMix64(42);
        for (int i = 0; i < 1000; i++) {
            assertEquals(reference.nextLong(), keys.next());
        }
    }

    @Test
    void seedsAndEpochsGiveOrdersOfTheirOwn() {
        Permutation base = new Permutation(1_000_000, 42, 0);
        for (Permutation other : new Permutation[] {
            new Permutation(1_000_000, 43, 0), new Permutation(1_000_000, 42, 1),
            new Permutation(1_000_000, 41, 1), new Permutation(1_000_001, 42, 0)}) {
            int same = 0;
            for (int position = 0; position < 100_000; position++) {
                same += base.at(position) == other.at(position) ? 1 : 0;
            }
            // Expected 0.1 coincidences, Poisson: 8 or more have a chance below 1e-12.
            assertTrue(same < 8, "coincidences: " + same);
        }
    }
}
