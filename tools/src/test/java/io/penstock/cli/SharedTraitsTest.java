// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.cli.SharedTraits.Shared;
import io.penstock.cli.SharedTraits.Trait;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SharedTraitsTest {

    private static List<Trait> row(SplittableRandom random, int files) {
        int file = random.nextInt(files);
        return List.of(new Trait("file", "f" + file), new Trait("folder", "d" + file % 5),
                new Trait("length", "l" + Integer.numberOfTrailingZeros(random.nextInt() | 1 << 8)));
    }

    private static List<List<Trait>> rows(SplittableRandom random, int rows, int files) {
        List<List<Trait>> all = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            all.add(row(random, files));
        }
        return all;
    }

    private static BigInteger choose(int of, int some) {
        BigInteger result = BigInteger.ONE;
        for (int i = 1; i <= some; i++) {
            result = result.multiply(BigInteger.valueOf(of - some + i)).divide(BigInteger.valueOf(i));
        }
        return result;
    }

    @Test
    void theStrengthOfAShareIsTheTailOfTheHypergeometricDistribution() {
        var random = new SplittableRandom(2);
        for (int round = 0; round < 300; round++) {
            int rows = random.nextInt(2, 90);
            int drawn = random.nextInt(1, rows);
            int with = random.nextInt(1, rows);
            var strength = new SharedTraits.Strength(rows, drawn);
            for (int found = 0; found <= Math.min(with, drawn); found++) {
                BigInteger ways = BigInteger.ZERO;
                for (int i = found; i <= Math.min(with, drawn); i++) {
                    if (drawn - i <= rows - with) {
                        ways = ways.add(choose(with, i).multiply(choose(rows - with, drawn - i)));
                    }
                }
                boolean isMore = (long) found * rows > (long) with * drawn && drawn - found <= rows - with;
                double expected = !isMore ? 1 : new BigDecimal(ways).divide(new BigDecimal(choose(rows, drawn)),
                        MathContext.DECIMAL64).doubleValue();
                assertEquals(1, Math.exp(strength.of(with, found)) / expected, 1e-9);
            }
        }
    }

    @Test
    void aPlantedCauseIsFoundAmongManyTraits() {
        for (int seed = 0; seed < 20; seed++) {
            var random = new SplittableRandom(seed);
            var traits = new SharedTraits();
            for (int step = 0; step < 400; step++) {
                List<List<Trait>> rows = rows(random, 16, 200);
                if (step < 6 || step % 100 == 99) {         // one row of 16 in the worst, and a few of the others
                    rows.set(3, List.of(new Trait("file", "bad"), new Trait("folder", "d0"),
                            new Trait("length", "l2")));
                }
                traits.add(rows);
            }
            SharedTraits.Result result = traits.ofFirst(6);
            Shared first = result.shared().getFirst();
            assertEquals(new Trait("file", "bad"), first.trait(), "seed " + seed);
            assertEquals(6, first.chosenRows());
            assertEquals(4, first.otherRows());
            assertEquals(6, first.chosenSteps());
            assertTrue(first.p() <= 0.001, () -> "p " + first.p());
            assertEquals(96, result.chosenRows());
        }
    }

    @Test
    void aCauseThatManyRowsHaveAnywayIsFoundByItsShare() {
        var random = new SplittableRandom(5);
        var traits = new SharedTraits();
        for (int step = 0; step < 300; step++) {
            List<List<Trait>> rows = new ArrayList<>();
            for (int row = 0; row < 32; row++) {
                rows.add(List.of(new Trait("store", random.nextInt(10) < (step < 10 ? 6 : 3) ? "web" : "books"),
                        new Trait("file", "f" + random.nextInt(50))));
            }
            traits.add(rows);
        }
        List<Shared> shared = traits.ofFirst(10).shared();
        assertEquals(new Trait("store", "web"), shared.getFirst().trait());
        assertTrue(shared.getFirst().p() <= 0.001);
        assertTrue(shared.stream().skip(1).noneMatch(other -> other.p() <= 0.05), shared::toString);
    }

    /** A step may have rows of one file only: then rows are no independent evidence, and must not count as such. */
    @Test
    void whereThereIsNoCauseOneIsFoundInNoMoreThanOneOfTwentyLogs() {
        for (boolean alike : new boolean[] {false, true}) {
            int found = 0;
            int logs = 60;
            for (int seed = 0; seed < logs; seed++) {
                var random = new SplittableRandom(1000 + seed);
                var traits = new SharedTraits();
                for (int step = 0; step < 100; step++) {
                    List<List<Trait>> rows = rows(random, 8, 30);
                    if (alike) {
                        rows.replaceAll(_ -> rows.getFirst());
                    }
                    traits.add(rows);
                }
                found += traits.ofFirst(8).shared().stream().anyMatch(shared -> shared.p() <= 0.05) ? 1 : 0;
            }
            assertTrue(found <= 8, found + " of " + logs);     // 5 %, and 3 standard deviations
        }
    }

    @Test
    void whatAllRowsHaveOrOneStepAloneIsNotShared() {
        var traits = new SharedTraits();
        for (int step = 0; step < 20; step++) {
            traits.add(List.of(List.of(new Trait("store", "all"), new Trait("key", "k" + step)),
                    List.of(new Trait("store", "all"), new Trait("file", step == 0 ? "one" : "many"))));
        }
        SharedTraits.Result result = traits.ofFirst(2);
        assertEquals(List.of(), result.shared().stream().filter(shared -> shared.p() <= 0.05).toList());
        assertEquals(1, result.traits());
        assertEquals(result.shared(), traits.ofFirst(2).shared());
    }
}
