// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Recording;
import io.penstock.io.ReadMode;
import io.penstock.json.Json;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.LoaderInfo;
import io.penstock.loader.LoaderMemory;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.LoaderReport.Downloads;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ChromeTraceTest {

    private static final int WORKERS = 3;
    private static final int SLOTS = 6;

    /** A run with random times: workers claim in order, wait for slots; the trainer takes in order. */
    private static Recording run(int steps, boolean copies) {
        return run(steps, copies, WORKERS, SLOTS);
    }

    private static Recording run(int steps, boolean copies, int workers, int slots) {
        var random = new SplittableRandom(7);
        List<BatchAccount> accounts = new ArrayList<>();
        long[] free = new long[workers];
        long[] closed = new long[steps];
        long trainer = 500;
        long copier = 0;
        for (int s = 0; s < steps; s++) {
            int worker = 0;
            for (int w = 1; w < workers; w++) {
                worker = free[w] < free[worker] ? w : worker;
            }
            long claimed = free[worker];
            long slot = Math.max(claimed, s < slots ? 0 : closed[s - slots]);
            long planned = slot + random.nextLong(2_000);
            long made = planned + 1 + random.nextLong(900_000);
            free[worker] = made;
            long submit = Math.max(made, copier);
            copier = submit + 5_000;
            long arrived = copier + random.nextLong(100_000);
            long taken = Math.max(trainer, copies ? arrived : made) + 100;
            closed[s] = taken + random.nextLong(400_000);
            accounts.add(new BatchAccount(s, s / 50, s % 50 == 0, 32, 65_600,
                    new BatchAccount.Making(worker, claimed, slot, planned, made, 1000, -1, -1, 0, 0,
                            new BatchAccount.Usage(500, 4096, 0, 1, 0, 0), null),
                    copies ? new BatchAccount.Copying(submit, copier, arrived) : null,
                    new BatchAccount.Taking(trainer, taken, closed[s], -1, 2, 3), null));
            trainer = closed[s] + random.nextLong(10_000);
        }
        var settings = new LoaderInfo("penstock", Role.TRAIN, "data", 32, 1, 2, workers, ReadMode.AUTO, "host",
                1, copies, false, new LoaderMemory(slots, 0, 65_600, slots * 65_600, 0));
        return new Recording(settings, accounts, List.of(new Recording.Stretch(20_000, 90_000)), null,
                new Recording.Machine(2, Double.NaN, Double.NaN, Double.NaN), List.of(), Downloads.NONE, 1);
    }

    private static List<Map<String, Object>> events(Recording run, TraceWindow window) throws IOException {
        StringWriter out = new StringWriter();
        ChromeTrace.write(run, window, out);
        List<Map<String, Object>> events = new ArrayList<>();
        Json.array(Json.object(Json.parse(out.toString())).get("traceEvents"))
                .forEach(event -> events.add(Json.object(event)));
        return events;
    }

    private static double number(Map<String, Object> event, String name) {
        return ((Number) event.get(name)).doubleValue();
    }

    private static List<Map<String, Object>> ofPhase(List<Map<String, Object>> events, String phase) {
        return events.stream().filter(event -> event.get("ph").equals(phase)).toList();
    }

    @Test
    void slicesOfALaneNestAsTheFormatWantsThem() throws IOException {
        for (boolean copies : new boolean[] {false, true}) {
            Map<Object, List<Map<String, Object>>> lanes = new HashMap<>();
            for (Map<String, Object> slice : ofPhase(events(run(200, copies), TraceWindow.ALL), "X")) {
                lanes.computeIfAbsent(slice.get("tid"), _ -> new ArrayList<>()).add(slice);
            }
            assertEquals(copies ? 7 : 6, lanes.size());
            lanes.values().forEach(ChromeTraceTest::checkNesting);
        }
    }

    @Test
    void aHundredWorkersShareNoLaneWithTheCopyOrTheJvm() throws IOException {
        for (int workers : new int[] {90, 100, 250}) {
            List<Map<String, Object>> events = events(run(1000, true, workers, 2 * workers), TraceWindow.ALL);
            List<Object> named = ofPhase(events, "M").stream().filter(event -> event.get("name").equals("thread_name"))
                    .map(event -> event.get("tid")).toList();
            assertEquals(workers + 4, named.size(), "steps, trainer, workers, copy, JVM");
            assertEquals(named.size(), named.stream().distinct().count(), workers + " workers");
            assertTrue(ofPhase(events, "X").stream().allMatch(slice -> named.contains(slice.get("tid"))));
        }
    }

    private static void checkNesting(List<Map<String, Object>> lane) {
        double half = 0.0005;                           // numbers are rounded to a nanosecond
        lane.sort(Comparator.comparingDouble((Map<String, Object> e) -> number(e, "ts"))
                .thenComparingDouble(e -> -number(e, "dur")));
        Deque<Double> ends = new ArrayDeque<>();
        for (Map<String, Object> slice : lane) {
            double begin = number(slice, "ts");
            double end = begin + number(slice, "dur");
            while (!ends.isEmpty() && ends.peek() <= begin + half) {
                ends.pop();
            }
            assertTrue(ends.isEmpty() || end <= ends.peek() + half, slice + " ends behind " + ends.peek());
            ends.push(end);
        }
    }

    @Test
    void everyBatchBeginsAndEndsAndFlowsFromItsWorkerToTheTrainer() throws IOException {
        List<Map<String, Object>> events = events(run(60, true), TraceWindow.ALL);
        assertEquals(120, ofPhase(events, "b").size());
        assertEquals(120, ofPhase(events, "e").size());
        for (String phase : List.of("s", "t", "f")) {
            assertEquals(60, ofPhase(events, phase).stream().map(event -> event.get("id")).distinct().count(), phase);
        }
        assertEquals(120, ofPhase(events, "C").size());
    }

    @Test
    void theWindowShowsItsActiveStepsAndNoOthers() throws IOException {
        List<Object> steps = new ArrayList<>();
        for (Map<String, Object> slice : ofPhase(events(run(200, false), new TraceWindow(100, 10, 20)), "X")) {
            if (slice.get("tid").equals(0L)) {
                steps.add(slice.get("name"));
            }
        }
        assertEquals(20, steps.size());
        assertEquals("ProfilerStep#110", steps.getFirst());
        assertEquals("ProfilerStep#129", steps.getLast());
    }

    @Test
    void anEmptyRecordingIsAnEmptyTrace() throws IOException {
        assertEquals(List.of(), ofPhase(events(run(0, false), TraceWindow.ALL), "X"));
    }

    @Test
    void aWindowIsThreeNumbers() {
        assertEquals(new TraceWindow(100, 10, 20), TraceWindow.of("100, 10,20"));
        for (String wrong : List.of("", "1,2", "1,2,0", "-1,0,5", "a,b,c")) {
            assertThrows(IllegalArgumentException.class, () -> TraceWindow.of(wrong), wrong);
        }
    }
}
