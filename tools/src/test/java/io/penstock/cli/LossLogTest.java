// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LossLogTest {

    @TempDir
    private Path folder;

    private LossLog read(String text) throws IOException {
        return LossLog.read(Files.writeString(folder.resolve("log.csv"), text));
    }

    private static Set<Long> steps(List<LossLog.Entry> entries) {
        return entries.stream().map(LossLog.Entry::step).collect(Collectors.toSet());
    }

    @Test
    void columnsAreFoundByNameAndStepsThatAreLoggedTwiceCountOnce() throws IOException {
        LossLog log = read("\uFEFFtime,Step,\"lr, scaled\",Loss\r\n1,10,\"0,1\",2.5\r\n2,9,\"a \"\"b\"\"\",3\r\n"
                + "3,12.0,,nan\r\n4,10,,2.25\r\n5,13,,\r\n6,14,,-Inf\r\n\r\n");
        assertEquals(List.of(9L, 10L, 12L, 14L), log.entries().stream().map(LossLog.Entry::step).toList());
        assertEquals(List.of(3.0, 2.25, Double.NaN, Double.NEGATIVE_INFINITY),
                log.entries().stream().map(LossLog.Entry::loss).toList());
    }

    @Test
    void aFileThatIsNoLogOfLossesIsRefusedWithItsLine() {
        for (String wrong : List.of("", "step,accuracy\n1,2\n", "step,loss\n1\n", "step,loss\none,2\n",
                "step,loss\n-1,2\n", "step,loss\n1.5,2\n", "step,loss\n1,two\n")) {
            String message = assertThrows(BadInputException.class, () -> read(wrong)).getMessage();
            assertTrue(message.contains("log.csv: line ") && message.contains("found"), message);
        }
    }

    @Test
    void stepsThatStandOutAreTheWorstThoughTheLossFalls() {
        var random = new SplittableRandom(1);
        TreeMap<Long, Double> losses = new TreeMap<>();
        for (long step = 0; step < 2000; step++) {
            losses.put(step, 2 + 8 * Math.exp(-step / 60.0) + 0.05 * random.nextGaussian());
        }
        Set<Long> spikes = Set.of(270L, 300L, 301L, 777L, 1500L, 1999L);
        spikes.forEach(step -> losses.merge(step, 0.6, Double::sum));
        losses.put(1200L, Double.NaN);
        losses.put(1300L, Double.POSITIVE_INFINITY);
        losses.put(1400L, Double.NEGATIVE_INFINITY);
        Set<Long> expected = new HashSet<>(spikes);
        expected.addAll(List.of(1200L, 1300L));
        List<LossLog.Entry> worst = LossLog.of(losses).worst(0);
        assertEquals(expected, steps(worst));
        assertEquals(Set.of(1200L, 1300L), steps(worst.subList(0, 2)));
        assertEquals(3, LossLog.of(losses).worst(3).size());
    }

    @Test
    void aLogWithoutNoiseHasSpikesAndOneOfAFewStepsHasFewWorst() {
        TreeMap<Long, Double> losses = new TreeMap<>();
        for (long step = 0; step < 100; step++) {
            losses.put(step, step == 40 ? 1.5 : 0.0);
        }
        assertEquals(40, LossLog.of(losses).worst(1).getFirst().step());
        assertEquals(1, LossLog.of(new TreeMap<>(losses.headMap(5L))).worst(0).size());
        assertEquals(0, LossLog.of(new TreeMap<>()).worst(0).size());
    }
}
