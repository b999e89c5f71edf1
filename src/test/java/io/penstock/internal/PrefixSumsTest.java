// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PrefixSumsTest {

    @Test
    void everyElementIsInTheRunThatAWalkOverThemFindsAlsoWhereRunsAreEmpty() {
        var random = new SplittableRandom(20261122);
        for (int round = 0; round < 500; round++) {
            long[] lengths = random.ints(random.nextInt(1, 20), 0, 4).asLongStream().toArray();
            PrefixSums sums = PrefixSums.ofLengths(lengths.length, run -> lengths[run]);
            assertEquals(lengths.length, sums.runs());
            long element = 0;
            for (int run = 0; run < lengths.length; run++) {
                assertEquals(element, sums.start(run));
                assertEquals(lengths[run], sums.length(run));
                for (long end = element + lengths[run]; element < end; element++) {
                    assertEquals(run, sums.runOf(element), "round " + round);
                    assertEquals(run, sums.runOf(element, random.nextInt(run + 1),
                            random.nextInt(run, lengths.length)));
                }
            }
            assertEquals(element, sums.total());
            assertEquals(element, sums.start(lengths.length));
            assertThrows(IndexOutOfBoundsException.class, () -> sums.runOf(sums.total()));
            assertThrows(IndexOutOfBoundsException.class, () -> sums.runOf(-1));
        }
    }

    @Test
    void noRunsHaveNoElementAndTooManyElementsAreNoCount() {
        PrefixSums none = PrefixSums.of(new long[1]);
        assertEquals(0, none.runs());
        assertEquals(0, none.total());
        assertThrows(IndexOutOfBoundsException.class, () -> none.runOf(0));
        assertThrows(ArithmeticException.class, () -> PrefixSums.ofLengths(2, _ -> Long.MAX_VALUE));
    }
}
